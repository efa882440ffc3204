// The twin of examples/http.c with net/http: PROGRAM PORT [WORKERS].
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: http PORT [WORKERS]")
		os.Exit(2)
	}
	if len(os.Args) > 2 {
		workers, _ := strconv.Atoi(os.Args[2])
		runtime.GOMAXPROCS(workers)
	}
	hello := []byte("hello\n")
	server := &http.Server{Addr: ":" + os.Args[1], Handler: http.HandlerFunc(
		func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			w.Write(hello)
		})}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		<-signals
		server.Shutdown(context.Background())
	}()
	server.ListenAndServe()
}
