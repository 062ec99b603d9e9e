// Syncs a typed controller-runtime cache of the benchmark's kind, once, and prints what it cost.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

func main() {
	count, err := strconv.Atoi(os.Args[1])
	must(err)
	log.SetLogger(logr.Discard())
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	must(err)
	scheme := runtime.NewScheme()
	AddToScheme(scheme)
	ctx := context.Background()

	start := time.Now()
	objects, err := cache.New(config, cache.Options{Scheme: scheme})
	must(err)
	_, err = objects.GetInformer(ctx, &Website{})
	must(err)
	go func() { must(objects.Start(ctx)) }()
	if !objects.WaitForCacheSync(ctx) {
		panic("the cache did not sync")
	}
	seconds := time.Since(start).Seconds()
	var usage syscall.Rusage
	must(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))

	var list WebsiteList
	must(objects.List(ctx, &list, client.UnsafeDisableDeepCopy))
	for range 1000 {
		n := rand.Intn(count)
		var website Website
		key := client.ObjectKey{Namespace: fmt.Sprintf("cold-sync-%d", n%10), Name: fmt.Sprintf("website-%05d", n)}
		must(objects.Get(ctx, key, &website))
		if website.Spec.Number != n {
			panic(fmt.Sprintf("%s has number %d", key, website.Spec.Number))
		}
	}
	must(json.NewEncoder(os.Stdout).Encode(map[string]any{
		"seconds":      seconds,
		"cpuSeconds":   cpu(usage.Utime) + cpu(usage.Stime),
		"peakRssBytes": usage.Maxrss * 1024,
		"objects":      len(list.Items),
	}))
}

func cpu(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }

func must(err error) {
	if err != nil {
		panic(err)
	}
}
