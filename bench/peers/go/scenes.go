// The workloads of the suite `scenes`.
package main

import (
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

func init() {
	workloads["kidnap"] = workload{runKidnap, 100, 4}
	workloads["noisy"] = workload{runNoisy, 15, 3}
	workloads["herd"] = workload{runHerd, 1000, 50}
	workloads["interfere"] = workload{runInterference, 500000, 500}
}

// How late each beat is.
func heart(period time.Duration, count int) []time.Duration {
	late := make([]time.Duration, count)
	begin := time.Now()
	for i := range late {
		due := begin.Add(time.Duration(i+1) * period)
		time.Sleep(time.Until(due))
		late[i] = time.Since(due)
	}
	return late
}

// ---- Kidnap -------------------------------------------------------------------------------------

func blockThread(d time.Duration) { // in the system call, as C code would
	left := syscall.NsecToTimespec(d.Nanoseconds())
	for syscall.Nanosleep(&left, &left) == syscall.EINTR {
	}
}

func runKidnap(count int) []result {
	blocks, period, beats := 2*time.Second, 100*time.Millisecond, 55
	if count < 100 {
		blocks, period, beats = 50*time.Millisecond, 10*time.Millisecond, 20
	}
	var join sync.WaitGroup
	var late []time.Duration
	var all time.Duration
	var lock sync.Mutex
	done, onTime := uint64(0), 0
	join.Add(count + 1)
	start := time.Now()
	go func() {
		late = heart(period, beats)
		join.Done()
	}()
	for i := 0; i < count; i++ {
		go func() {
			blockThread(blocks)
			lock.Lock()
			all = time.Since(start)
			done++
			lock.Unlock()
			join.Done()
		}()
	}
	join.Wait()
	for _, l := range late {
		if l < period {
			onTime++
		}
	}
	return []result{{float64(onTime), "beats", done}, {all.Seconds(), "s-all", done}}
}

// ---- Noisy neighbours ---------------------------------------------------------------------------

func runNoisy(hogs int) []result {
	period, count := 10*time.Millisecond, 300
	if hogs < 15 {
		count = 10
	}
	var join sync.WaitGroup
	var late []time.Duration
	end := time.Now().Add(time.Duration(count) * period)
	join.Add(hogs + 1)
	go func() {
		late = heart(period, count)
		join.Done()
	}()
	for i := 0; i < hogs; i++ {
		go func() {
			for time.Now().Before(end) {
			}
			join.Done()
		}()
	}
	join.Wait()
	return percentiles(late)
}

// ---- Herd ---------------------------------------------------------------------------------------

func runHerd(count int) []result {
	gate := make(chan struct{})
	var there, woken uint64
	var first, last int64
	var join sync.WaitGroup
	join.Add(count)
	start := time.Now()
	for i := 0; i < count; i++ {
		go func() {
			atomic.AddUint64(&there, 1)
			<-gate
			now := time.Since(start).Nanoseconds()
			if atomic.AddUint64(&woken, 1) == 1 {
				atomic.StoreInt64(&first, now)
			}
			atomic.StoreInt64(&last, now)
			join.Done()
		}()
	}
	for atomic.LoadUint64(&there) < uint64(count) {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(20 * time.Millisecond)
	opened := time.Since(start).Nanoseconds()
	close(gate)
	join.Wait()
	return []result{{float64(first-opened) / 1e3, "us-first", woken}, {float64(last-opened) / 1e3, "us-last", woken}}
}

// ---- Interference -------------------------------------------------------------------------------

// ns of a round trip; with rounds = 0 until it is over.
func converse(rounds uint64, over *uint32, sum *uint64) float64 {
	there, back := make(chan uint64, 1), make(chan uint64, 1)
	go func() {
		for value := range there {
			back <- value
		}
	}()
	i := uint64(0)
	start := time.Now()
	for ; (rounds > 0 && i < rounds) || (rounds == 0 && atomic.LoadUint32(over) == 0); i++ {
		there <- i
		*sum += <-back
	}
	ns := float64(time.Since(start).Nanoseconds()) / float64(i+1)
	close(there)
	return ns
}

func runInterference(rounds int) []result {
	var sum, others uint64
	var over uint32
	var join sync.WaitGroup
	alone := converse(uint64(rounds), &over, &sum)
	join.Add(1)
	go func() {
		converse(0, &over, &others)
		join.Done()
	}()
	beside := converse(uint64(rounds), &over, &sum)
	atomic.StoreUint32(&over, 1)
	join.Wait()
	return []result{{alone, "ns-alone", sum}, {beside, "ns-beside", sum}}
}
