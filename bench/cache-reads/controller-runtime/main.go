// Measures reads from a typed controller-runtime cache of the benchmark's kind, and prints nanoseconds by read.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"strconv"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

const (
	recent = 100
	values = 10
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
	objects, err := cache.New(config, cache.Options{Scheme: scheme})
	must(err)
	must(objects.IndexField(ctx, &Website{}, "spec.shard", func(object client.Object) []string {
		return []string{object.(*Website).Spec.Shard}
	}))
	must(objects.IndexField(ctx, &Website{}, "host", func(object client.Object) []string {
		return object.(*Website).Spec.Hosts[:1]
	}))
	go func() { must(objects.Start(ctx)) }()
	if !objects.WaitForCacheSync(ctx) {
		panic("the cache did not sync")
	}

	get := func(n int) {
		var website Website
		key := client.ObjectKey{Namespace: "default", Name: fmt.Sprintf("website-%05d", n)}
		must(objects.Get(ctx, key, &website))
		if website.Spec.Number != n {
			panic(fmt.Sprintf("%s has number %d", key, website.Spec.Number))
		}
	}
	list := func(expected int, options ...client.ListOption) {
		var list WebsiteList
		must(objects.List(ctx, &list, options...))
		if len(list.Items) != expected {
			panic(fmt.Sprintf("%d objects, not %d", len(list.Items), expected))
		}
	}
	results := map[string]float64{}
	for _, mode := range []string{"", ", no copies"} {
		more := []client.ListOption{}
		if mode != "" {
			more = append(more, client.UnsafeDisableDeepCopy)
		}
		with := func(options ...client.ListOption) []client.ListOption { return append(options, more...) }
		shard := func(at int) string { return strconv.Itoa(at % values) }
		results["label"+mode] = measure(func(at int) { list(count/100, with(client.MatchingLabels{"shard": shard(at)})...) })
		results["field"+mode] = measure(func(at int) { list(count/100, with(client.MatchingFields{"spec.shard": shard(at)})...) })
		results["index"+mode] = measure(func(at int) {
			list(count/100, with(client.MatchingFields{"host": "site-" + shard(at) + ".example.com"})...)
		})
		results["whole"+mode] = measure(func(int) { list(count, more...) })
	}
	results["get"] = measure(func(at int) { get(at % recent) })
	results["cold"] = measure(func(int) { get(rand.Intn(count)) })
	must(json.NewEncoder(os.Stdout).Encode(results))
}

// Nanoseconds by call, after a warm-up.
func measure(call func(at int)) float64 {
	for begin := time.Now(); time.Since(begin) < 200*time.Millisecond; {
		for at := range values {
			call(at)
		}
	}
	calls := 0
	begin := time.Now()
	for time.Since(begin) < 500*time.Millisecond {
		for range values {
			call(calls)
			calls++
		}
	}
	return float64(time.Since(begin).Nanoseconds()) / float64(calls)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
