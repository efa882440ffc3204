// The Go peer: goroutines, joined with a WaitGroup. bench/peers/README.md says what each workload does.
package main

import (
	"fmt"
	"os"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

type result struct {
	value    float64
	unit     string
	checksum uint64
}

type workload struct {
	run        func(size int) []result
	full, tiny int
}

var workloads = map[string]workload{
	"fib":     {runFib, 32, 16},
	"spawn1":  {runSpawnOne, 1000000, 1000},
	"spawnb":  {runSpawnBatches, 1000000, 10000},
	"burst":   {runBurst, 1000000, 1000},
	"chain":   {runChain, 1000000, 1000},
	"inject":  {runInject, 1000000, 1000},
	"tree":    {runTree, 14, 8},
	"skynet":  {runSkynet, 1000000, 1000},
	"wake":    {func(count int) []result { return runWake(count, 500*time.Microsecond) }, 2000, 20},
	"wake5ms": {func(count int) []result { return runWake(count, 5*time.Millisecond) }, 300, 5},
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == "--version" {
		fmt.Println("Go", strings.TrimPrefix(runtime.Version(), "go"))
		return
	}
	if len(os.Args) == 2 && os.Args[1] == "--empty" {
		emptyProgram()
		return
	}
	tiny := len(os.Args) == 4 && os.Args[3] == "--tiny"
	if len(os.Args) != 3 && !tiny {
		fail("usage: go WORKLOAD WORKERS [--tiny]")
	}
	w, known := workloads[os.Args[1]]
	workers, err := strconv.Atoi(os.Args[2])
	if !known || err != nil || workers < 1 {
		fail("go: no workload '" + os.Args[1] + "', or WORKERS is no number")
	}
	runtime.GOMAXPROCS(workers)
	size := w.full
	if tiny {
		size = w.tiny
	}
	w.run(w.tiny) // warms up
	for _, r := range w.run(size) {
		fmt.Printf("RESULT %.3f %s %d\n", r.value, r.unit, r.checksum)
	}
}

func fail(text string) {
	fmt.Fprintln(os.Stderr, text)
	os.Exit(2)
}

func perOperation(start time.Time, operations uint64, checksum func() uint64) []result {
	elapsed := time.Since(start)
	return []result{{float64(elapsed.Nanoseconds()) / float64(operations), "ns", checksum()}}
}

func inTotal(start time.Time, checksum uint64) []result {
	return []result{{float64(time.Since(start).Nanoseconds()) / 1e6, "ms", checksum}}
}

// Where tasks leave their numbers: one slot each, touched before the clock starts.
func makeSlots(count int) []uint32 {
	slots := make([]uint32, count)
	for i := range slots {
		slots[i] = ^uint32(0)
	}
	return slots
}

func sumOf(slots []uint32) uint64 {
	sum := uint64(0)
	for _, number := range slots {
		sum += uint64(number)
	}
	return sum
}

// ---- fib ----------------------------------------------------------------------------------------

func fib(n int) uint64 {
	if n < 2 {
		return uint64(n)
	}
	var left uint64
	var join sync.WaitGroup
	join.Add(1)
	go func() {
		left = fib(n - 1)
		join.Done()
	}()
	right := fib(n - 2)
	join.Wait()
	return left + right
}

// fib(n+1) - 1: how many calls of fib(n) spawn.
func fibSpawns(n int) uint64 {
	before, current := uint64(0), uint64(1)
	for i := 0; i < n; i++ {
		before, current = current, before+current
	}
	return current - 1
}

func runFib(n int) []result {
	start := time.Now()
	value := fib(n)
	return perOperation(start, fibSpawns(n), func() uint64 { return value })
}

// ---- spawn and join -----------------------------------------------------------------------------

func runSpawnOne(count int) []result {
	slots := makeSlots(count)
	var join sync.WaitGroup
	start := time.Now()
	for i := 0; i < count; i++ {
		number := i
		join.Add(1)
		go func() {
			slots[number] = uint32(number)
			join.Done()
		}()
		join.Wait()
	}
	return perOperation(start, uint64(count), func() uint64 { return sumOf(slots) })
}

// Spawns the tasks from..to-1 and joins them.
func spawnAll(slots []uint32, from, to int) {
	var join sync.WaitGroup
	join.Add(to - from)
	for i := from; i < to; i++ {
		number := i
		go func() {
			slots[number] = uint32(number)
			join.Done()
		}()
	}
	join.Wait()
}

func runSpawnBatches(count int) []result {
	const batch = 10000
	slots := makeSlots(count)
	start := time.Now()
	for from := 0; from < count; from += batch {
		spawnAll(slots, from, from+batch)
	}
	return perOperation(start, uint64(count), func() uint64 { return sumOf(slots) })
}

func runBurst(count int) []result {
	slots := makeSlots(count)
	start := time.Now()
	spawnAll(slots, 0, count)
	return perOperation(start, uint64(count), func() uint64 { return sumOf(slots) })
}

// ---- chain --------------------------------------------------------------------------------------

type chain struct {
	length, hash uint64
	done         chan struct{}
}

func (c *chain) link(number uint64) {
	c.hash = c.hash*31 + number
	if number+1 < c.length {
		go c.link(number + 1)
	} else {
		c.done <- struct{}{}
	}
}

func runChain(length int) []result {
	c := chain{length: uint64(length), done: make(chan struct{}, 1)}
	start := time.Now()
	go c.link(0)
	<-c.done
	return perOperation(start, c.length, func() uint64 { return c.hash })
}

// ---- inject -------------------------------------------------------------------------------------

// The nearest thing to a foreign thread: a goroutine that no other shares its thread with.
func onOwnThread(work func()) {
	done := make(chan struct{})
	go func() {
		runtime.LockOSThread()
		work()
		close(done)
	}()
	<-done
}

func runInject(count int) []result {
	slots := makeSlots(count)
	start := time.Now()
	onOwnThread(func() { spawnAll(slots, 0, count) })
	return perOperation(start, uint64(count), func() uint64 { return sumOf(slots) })
}

// ---- tree ---------------------------------------------------------------------------------------

func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func childCount(state uint64, levelsBelow int) int {
	count := 0
	for bytes := state; levelsBelow > 0 && count < 8 && bytes&255 < 192; bytes >>= 8 {
		count++
	}
	return count
}

func childState(state uint64, index int) uint64 {
	return mix(state + uint64(index+1)*0x9e3779b97f4a7c15)
}

// The number of nodes from here on down.
func countNodes(state uint64, levelsBelow int) uint64 {
	children := childCount(state, levelsBelow)
	if children == 0 {
		return 1 // before anything below, which lives on the heap
	}
	var below [8]uint64
	var join sync.WaitGroup
	join.Add(children)
	for i := 0; i < children; i++ {
		index := i
		go func() {
			below[index] = countNodes(childState(state, index), levelsBelow-1)
			join.Done()
		}()
	}
	join.Wait()
	count := uint64(1)
	for _, part := range below[:children] {
		count += part
	}
	return count
}

func runTree(depth int) []result {
	start := time.Now()
	count := countNodes(mix(541), depth)
	return inTotal(start, count)
}

// ---- skynet -------------------------------------------------------------------------------------

func skynet(first, leaves uint64) uint64 {
	if leaves == 1 {
		return first
	}
	var sums [10]uint64
	var join sync.WaitGroup
	join.Add(len(sums))
	for i := range sums {
		index := i
		go func() {
			sums[index] = skynet(first+uint64(index)*(leaves/10), leaves/10)
			join.Done()
		}()
	}
	join.Wait()
	total := uint64(0)
	for _, sum := range sums {
		total += sum
	}
	return total
}

func runSkynet(leaves int) []result {
	start := time.Now()
	total := skynet(0, uint64(leaves))
	return inTotal(start, total)
}

// ---- wake ---------------------------------------------------------------------------------------

func runWake(count int, gap time.Duration) []result {
	latencies := make([]time.Duration, 0, count)
	onOwnThread(func() {
		ran := make(chan time.Duration, 1)
		for i := 0; i < count; i++ {
			sleep := syscall.NsecToTimespec(gap.Nanoseconds())
			syscall.Nanosleep(&sleep, nil)
			submitted := time.Now()
			go func() { ran <- time.Since(submitted) }()
			latencies = append(latencies, <-ran)
		}
	})
	return percentiles(latencies)
}

func percentiles(latencies []time.Duration) []result {
	count := len(latencies)
	sort.Slice(latencies, func(i, j int) bool { return latencies[i] < latencies[j] })
	percentile := func(p int) float64 { return float64(latencies[count*p/100].Nanoseconds()) / 1e3 }
	return []result{{percentile(50), "us-p50", uint64(count)}, {percentile(99), "us-p99", uint64(count)}}
}
