// The workloads of the suite `fibers`, but for spawn1 and spawnb, which main.go has.
package main

import (
	"context"
	"os"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

func init() {
	workloads["yield"] = workload{runYield, 2000000, 1000}
	workloads["cold"] = workload{runCold, 100000, 1}
	workloads["startup"] = workload{runStartup, 500, 5}
	workloads["pingpong"] = workload{runPingPong, 1000000, 1000}
	workloads["timeout"] = workload{runTimeout, 1000000, 1000}
	workloads["buf11"] = workload{func(items int) []result { return runBelt(items, 1) }, 4000000, 4000}
	workloads["buf44"] = workload{func(items int) []result { return runBelt(items, 4) }, 4000000, 4000}
	workloads["select4"] = workload{runSelect, 1000000, 1000}
	workloads["mutex"] = workload{runMutex, 1000000, 1000}
	workloads["timer"] = workload{runTimer, 1000000, 1000}
	workloads["timer1m"] = workload{runTimersLive, 1000000, 1000}
	workloads["skychan"] = workload{runSkynetChannels, 1000000, 1000}
	workloads["unpark"] = workload{func(count int) []result { return runUnpark(count, 500*time.Microsecond) }, 2000, 20}
	workloads["unpark5ms"] = workload{func(count int) []result { return runUnpark(count, 5*time.Millisecond) }, 300, 5}
	workloads["parked"] = workload{runParked, 100000, 10}
	workloads["sleepers"] = workload{runSleepers, 200, 2}
	workloads["nursery"] = workload{runNursery, 200000, 10}
	workloads["sleep100k"] = workload{runSleep, 100000, 100}
	workloads["sleep1m"] = workload{runSleep, 1000000, 100}
}

func sumIs(sum uint64) func() uint64 { return func() uint64 { return sum } }

// ---- Yield --------------------------------------------------------------------------------------

func runYield(count int) []result {
	var done [2]uint64
	var join sync.WaitGroup
	join.Add(len(done))
	start := time.Now()
	for i := range done {
		mine := &done[i]
		go func() {
			for k := 0; k < count; k++ {
				runtime.Gosched()
				*mine++
			}
			join.Done()
		}()
	}
	join.Wait()
	return perOperation(start, uint64(count), sumIs(done[0]+done[1]))
}

// ---- The first burst, and the start of a program -------------------------------------------------

func runCold(count int) []result {
	slots := makeSlots(count)
	start := time.Now()
	spawnAll(slots, 0, count)
	return perOperation(start, uint64(count), func() uint64 { return sumOf(slots) })
}

// One goroutine, which does nothing.
func emptyProgram() {
	done := make(chan bool)
	go func() { done <- true }()
	<-done
}

func runStartup(count int) []result {
	ms := make([]float64, count)
	good := uint64(0)
	for i := range ms {
		start := time.Now()
		pid, err := syscall.ForkExec("/proc/self/exe", []string{"go", "--empty"}, &syscall.ProcAttr{Files: []uintptr{0, 1, 2}})
		if err != nil {
			fail(err.Error())
		}
		var status syscall.WaitStatus
		for {
			if _, err = syscall.Wait4(pid, &status, 0, nil); err != syscall.EINTR {
				break
			}
		}
		ms[i] = float64(time.Since(start).Nanoseconds()) / 1e6
		if err == nil && status == 0 {
			good++
		}
	}
	sort.Float64s(ms)
	return []result{{ms[count/2], "ms", good}}
}

// ---- Channels -----------------------------------------------------------------------------------

func runPingPong(count int) []result {
	there, back := make(chan uint64), make(chan uint64)
	go func() {
		for i := 0; i < count; i++ {
			back <- <-there
		}
	}()
	sum := uint64(0)
	start := time.Now()
	for i := 0; i < count; i++ {
		there <- uint64(i)
		sum += <-back
	}
	return perOperation(start, uint64(count), sumIs(sum))
}

func receiveIn(c chan uint64, limit time.Duration) uint64 {
	timer := time.NewTimer(limit)
	select {
	case value := <-c:
		timer.Stop()
		return value
	case <-timer.C:
		panic("too late")
	}
}

func runTimeout(count int) []result {
	there, back := make(chan uint64), make(chan uint64)
	go func() {
		for i := 0; i < count; i++ {
			back <- receiveIn(there, time.Second)
		}
	}()
	sum := uint64(0)
	start := time.Now()
	for i := 0; i < count; i++ {
		there <- uint64(i)
		sum += receiveIn(back, time.Second)
	}
	return perOperation(start, uint64(count), sumIs(sum))
}

func runBelt(items, pairs int) []result {
	belt := make(chan uint64, 128)
	var sum uint64
	var join sync.WaitGroup
	join.Add(2 * pairs)
	start := time.Now()
	for i := 0; i < pairs; i++ {
		go func() {
			for k := 0; k < items/pairs; k++ {
				belt <- uint64(k)
			}
			join.Done()
		}()
		go func() {
			mine := uint64(0)
			for k := 0; k < items/pairs; k++ {
				mine += <-belt
			}
			atomic.AddUint64(&sum, mine)
			join.Done()
		}()
	}
	join.Wait()
	return perOperation(start, uint64(items), sumIs(sum))
}

func runSelect(count int) []result {
	var ways [4]chan uint64
	for i := range ways {
		ways[i] = make(chan uint64)
	}
	sum := uint64(0)
	start := time.Now()
	for _, way := range ways {
		way := way
		go func() {
			for k := 0; k < count/4; k++ {
				way <- uint64(k)
			}
		}()
	}
	for i := 0; i < count; i++ {
		select {
		case value := <-ways[0]:
			sum += value
		case value := <-ways[1]:
			sum += value
		case value := <-ways[2]:
			sum += value
		case value := <-ways[3]:
			sum += value
		}
	}
	return perOperation(start, uint64(count), sumIs(sum))
}

func skynetChannels(out chan uint64, first, leaves uint64) {
	if leaves == 1 {
		out <- first
		return
	}
	results := make(chan uint64)
	for i := uint64(0); i < 10; i++ {
		go skynetChannels(results, first+i*(leaves/10), leaves/10)
	}
	sum := uint64(0)
	for i := 0; i < 10; i++ {
		sum += <-results
	}
	out <- sum
}

func runSkynetChannels(leaves int) []result {
	out := make(chan uint64)
	start := time.Now()
	go skynetChannels(out, 0, uint64(leaves))
	sum := <-out
	return inTotal(start, sum)
}

// ---- Mutex --------------------------------------------------------------------------------------

func runMutex(count int) []result {
	const crowd = 100
	var mutex sync.Mutex
	var join sync.WaitGroup
	counter := uint64(0)
	join.Add(crowd)
	start := time.Now()
	for i := 0; i < crowd; i++ {
		go func() {
			for k := 0; k < count/crowd; k++ {
				mutex.Lock()
				counter++
				mutex.Unlock()
			}
			join.Done()
		}()
	}
	join.Wait()
	return perOperation(start, uint64(count), sumIs(counter))
}

// ---- Timers -------------------------------------------------------------------------------------

func runTimer(count int) []result {
	start := time.Now()
	for i := 0; i < count; i++ {
		time.NewTimer(time.Duration(1+i%1000) * time.Second).Stop()
	}
	return perOperation(start, uint64(count), sumIs(uint64(count)))
}

func runTimersLive(count int) []result {
	timers := make([]*time.Timer, count)
	per := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / float64(count) }
	start := time.Now()
	for i := range timers {
		timers[i] = time.AfterFunc(time.Duration(100000+i*7919%1000000)*time.Millisecond, func() {})
	}
	armed := time.Now()
	for _, timer := range timers {
		timer.Stop()
	}
	cancelled := time.Now()
	return []result{
		{per(armed.Sub(start)), "ns-arm", uint64(count)},
		{per(cancelled.Sub(armed)), "ns-cancel", uint64(count)},
	}
}

// ---- Many ---------------------------------------------------------------------------------------

// A line of /proc/self/status in KiB.
func statusKiB(name string) float64 {
	text, _ := os.ReadFile("/proc/self/status")
	for _, line := range strings.Split(string(text), "\n") {
		if strings.HasPrefix(line, name) {
			value, _ := strconv.ParseFloat(strings.Fields(line)[1], 64)
			return value
		}
	}
	return 0
}

func cpuSeconds() float64 {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)*1e-6
}

func runSleep(count int) []result {
	base := 1000
	if count <= 1000 {
		base = 10
	}
	lates := make([]time.Duration, count)
	slots := makeSlots(count)
	var join sync.WaitGroup
	join.Add(count)
	cpu, start := cpuSeconds(), time.Now()
	for i := 0; i < count; i++ {
		number, span := i, time.Duration(base+i%base)*time.Millisecond
		go func() {
			begun := time.Now()
			time.Sleep(span)
			lates[number] = time.Since(begun) - span
			slots[number] = uint32(number)
			join.Done()
		}()
	}
	spawned := time.Now()
	join.Wait()
	late := time.Since(spawned) - time.Duration(2*base-1)*time.Millisecond
	cpu = cpuSeconds() - cpu
	latest := time.Duration(0)
	for _, one := range lates {
		if one > latest {
			latest = one
		}
	}
	if late < 0 {
		late = 0
	}
	ms := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }
	sum := sumOf(slots)
	return []result{
		{ms(spawned.Sub(start)), "ms-spawn", sum},
		{ms(late), "ms-late", sum},
		{ms(latest), "ms-latest", sum},
		{cpu, "s-CPU", sum},
		{statusKiB("VmHWM:") / 1024, "MiB-peak", sum},
	}
}

func runSleepers(rounds int) []result {
	const sleepers, span = 1000, 10 * time.Millisecond
	lates := make([]time.Duration, sleepers)
	var join sync.WaitGroup
	join.Add(sleepers)
	cpu, start := cpuSeconds(), time.Now()
	for i := 0; i < sleepers; i++ {
		late := &lates[i]
		go func() {
			for k := 0; k < rounds; k++ {
				begun := time.Now()
				time.Sleep(span)
				*late += time.Since(begun) - span
			}
			join.Done()
		}()
	}
	join.Wait()
	share := (cpuSeconds() - cpu) / time.Since(start).Seconds()
	all, slept := time.Duration(0), uint64(sleepers*rounds)
	for _, late := range lates {
		all += late
	}
	return []result{
		{share * 100, "%-of-a-CPU", slept},
		{float64(all.Nanoseconds()) / 1e3 / float64(slept), "us-late", slept},
	}
}

func runNursery(count int) []result {
	ctx, cancel := context.WithCancel(context.Background())
	var begun uint64
	var join sync.WaitGroup
	join.Add(count)
	per := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / float64(count) }
	start := time.Now()
	for i := 0; i < count; i++ {
		go func() {
			atomic.AddUint64(&begun, 1)
			<-ctx.Done()
			join.Done()
		}()
	}
	spawned := time.Now()
	for atomic.LoadUint64(&begun) < uint64(count) {
		time.Sleep(time.Millisecond)
	}
	parked := time.Now()
	cancel()
	join.Wait()
	return []result{
		{per(spawned.Sub(start)), "ns-spawn", begun},
		{per(time.Since(parked)), "ns-cancel", begun},
	}
}

func runParked(count int) []result {
	end := make(chan struct{})
	var arrived, left int64
	var join sync.WaitGroup
	memory := func() float64 { return statusKiB("VmRSS:") + statusKiB("VmPTE:") }
	join.Add(count)
	before := memory()
	for i := 0; i < count; i++ {
		go func() {
			atomic.AddInt64(&arrived, 1)
			<-end
			atomic.AddInt64(&left, 1)
			join.Done()
		}()
	}
	for atomic.LoadInt64(&arrived) < int64(count) {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(10 * time.Millisecond)
	after := memory()
	close(end)
	join.Wait()
	bytes := (after - before) * 1024 / float64(count)
	if bytes < 0 {
		bytes = 0
	}
	return []result{{bytes, "bytes", uint64(left)}}
}

// ---- Waking from outside ------------------------------------------------------------------------

func runUnpark(count int, gap time.Duration) []result {
	bell, answer := make(chan time.Time, 1), make(chan time.Duration, 1)
	go func() {
		for rung := range bell {
			answer <- time.Since(rung)
		}
	}()
	latencies := make([]time.Duration, 0, count)
	onOwnThread(func() {
		for i := 0; i < count; i++ {
			sleep := syscall.NsecToTimespec(gap.Nanoseconds())
			syscall.Nanosleep(&sleep, nil)
			bell <- time.Now()
			latencies = append(latencies, <-answer)
		}
	})
	close(bell)
	return percentiles(latencies)
}
