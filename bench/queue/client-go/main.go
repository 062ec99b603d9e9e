// Measures client-go's workqueue: adds every key, then gets and finishes every key. Prints a JSON array with the
// microseconds per key of each round. Usage: workqueue KEYS ROUNDS
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"time"

	"k8s.io/client-go/util/workqueue"
)

func main() {
	count, _ := strconv.Atoi(os.Args[1])
	rounds, _ := strconv.Atoi(os.Args[2])
	keys := make([]string, count)
	for i := range keys {
		keys[i] = fmt.Sprintf("namespace-%d/website-%d", i%100, i)
	}
	results := make([]float64, 0, rounds)
	for range rounds {
		queue := workqueue.NewTyped[string]()
		runtime.GC()
		start := time.Now()
		for _, key := range keys {
			queue.Add(key)
		}
		served := 0
		for queue.Len() > 0 {
			key, _ := queue.Get()
			queue.Done(key)
			served++
		}
		elapsed := time.Since(start)
		if served != count {
			panic(fmt.Sprintf("served %d of %d keys", served, count))
		}
		results = append(results, float64(elapsed.Nanoseconds())/1000/float64(count))
		queue.ShutDown()
	}
	_ = json.NewEncoder(os.Stdout).Encode(results)
}
