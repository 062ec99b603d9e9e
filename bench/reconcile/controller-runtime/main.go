// The peer's operator of the benchmark: program apply|update NAMESPACE CONCURRENCY. Each line of its input begins a phase:
//
//	write CHILD REVISION FIRST COUNT   the children are to be so from now on; COUNT objects from number FIRST on run, and no
//	                                   others. Answered after as many writes: how long they took, and the CPU time of it.
//	follow COUNT                       nothing is to be written; whatever has an event runs. Answered after COUNT events:
//	                                   how long after each was sent a reconcile had its object in hand.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"maps"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	corev1apply "k8s.io/client-go/applyconfigurations/core/v1"
	metav1apply "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

type reconciler struct {
	client.Client
	applies bool

	mutex           sync.Mutex
	isWriting       bool
	child, revision string
	first, count    int
	left            int
	cpu             float64
	started         time.Time
	latencies       []float64
	// What each object said last, by name: an event is followed by the first run that sees it.
	seen map[string]string
}

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	r.mutex.Lock()
	suffix, revision, due := r.child, r.revision, r.isDue(request.Name)
	r.mutex.Unlock()
	if !due {
		return ctrl.Result{}, nil
	}
	var site Website
	if err := r.Get(ctx, request.NamespacedName, &site); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	// With the object in hand, as the other side begins.
	entered := time.Now()
	r.follow(site.Name, site.Spec.SentAt, entered)
	data := map[string]string{"image": site.Spec.Image, "revision": revision}
	write := r.createOrUpdate
	if r.applies {
		write = r.apply
	}
	wrote, err := write(ctx, &site, site.Name+"-"+suffix, data)
	if wrote && err == nil {
		r.wrote()
	}
	return ctrl.Result{}, err
}

// The way of most operators: read, then create or update where something differs.
func (r *reconciler) createOrUpdate(ctx context.Context, site *Website, name string, data map[string]string) (bool, error) {
	child := &corev1.ConfigMap{}
	child.Namespace, child.Name = site.Namespace, name
	result, err := controllerutil.CreateOrUpdate(ctx, r.Client, child, func() error {
		child.Data = data
		return controllerutil.SetControllerReference(site, child, r.Scheme())
	})
	return result != controllerutil.OperationResultNone, err
}

// Server-side apply, which is what ours does. Left out where the cache shows the same.
func (r *reconciler) apply(ctx context.Context, site *Website, name string, data map[string]string) (bool, error) {
	var child corev1.ConfigMap
	err := r.Get(ctx, client.ObjectKey{Namespace: site.Namespace, Name: name}, &child)
	if err == nil && maps.Equal(child.Data, data) {
		return false, nil
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return false, err
	}
	owner := metav1apply.OwnerReference().WithAPIVersion(version.String()).WithKind("Website").
		WithName(site.Name).WithUID(site.UID).WithController(true).WithBlockOwnerDeletion(true)
	desired := corev1apply.ConfigMap(name, site.Namespace).WithOwnerReferences(owner).WithData(data)
	return true, r.Apply(ctx, desired, client.FieldOwner("bench"), client.ForceOwnership)
}

func (r *reconciler) follow(name, sentAt string, entered time.Time) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	last, known := r.seen[name]
	r.seen[name] = sentAt
	if r.isWriting || known && last == sentAt {
		return
	}
	sentMs, _ := strconv.ParseFloat(sentAt, 64)
	r.latencies = append(r.latencies, float64(entered.UnixNano())/1e6-sentMs)
	r.left--
	if r.left == 0 {
		answer(map[string]any{"latenciesMs": r.latencies})
	}
}

func (r *reconciler) wrote() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if !r.isWriting {
		return
	}
	r.left--
	if r.left == 0 {
		answer(map[string]any{"seconds": time.Since(r.started).Seconds(), "cpuSeconds": cpuSeconds() - r.cpu})
	}
}

func answer(result map[string]any) {
	must(json.NewEncoder(os.Stdout).Encode(result))
}

// Begins a phase as a line of the input says. Returns whether the objects that are due must run for it.
func (r *reconciler) begin(line string) bool {
	fields := strings.Fields(line)
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if fields[0] == "follow" {
		r.isWriting, r.left, r.latencies = false, number(fields[1]), nil
		return false
	}
	r.isWriting, r.child, r.revision = true, fields[1], fields[2]
	r.first, r.count = number(fields[3]), number(fields[4])
	r.left, r.started, r.cpu = r.count, time.Now(), cpuSeconds()
	return true
}

// Whether an object is one of those that run now. The mutex must be held.
func (r *reconciler) isDue(name string) bool {
	if !r.isWriting {
		return r.child != ""
	}
	at := number(name[len(name)-4:])
	return at >= r.first && at < r.first+r.count
}

func number(text string) int {
	value, err := strconv.Atoi(text)
	must(err)
	return value
}

func main() {
	namespace := os.Args[2]
	concurrency := number(os.Args[3])
	log.SetLogger(logr.Discard())
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	must(err)
	// No limit of its own: what is measured is the machinery, not a setting.
	config.QPS = -1
	scheme := runtime.NewScheme()
	addToScheme(scheme)
	must(corev1.AddToScheme(scheme))
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:  scheme,
		Metrics: server.Options{BindAddress: "0"},
		Cache:   cache.Options{DefaultNamespaces: map[string]cache.Config{namespace: {}}},
	})
	must(err)
	events := make(chan event.GenericEvent, 1024)
	r := &reconciler{Client: manager.GetClient(), applies: os.Args[1] == "apply", seen: map[string]string{}}
	must(ctrl.NewControllerManagedBy(manager).For(&Website{}).Owns(&corev1.ConfigMap{}).
		WatchesRawSource(source.Channel(events, &handler.EnqueueRequestForObject{})).
		WithOptions(controller.Options{MaxConcurrentReconciles: concurrency}).
		Complete(r))
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		lines := bufio.NewScanner(os.Stdin)
		for lines.Scan() {
			var sites WebsiteList
			must(r.List(ctx, &sites))
			if !r.begin(lines.Text()) {
				continue
			}
			for i := range sites.Items {
				r.mutex.Lock()
				due := r.isDue(sites.Items[i].Name)
				r.mutex.Unlock()
				if due {
					events <- event.GenericEvent{Object: &sites.Items[i]}
				}
			}
		}
		stop()
	}()
	must(manager.Start(ctx))
}

// What the process has used so far.
func cpuSeconds() float64 {
	var usage syscall.Rusage
	must(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return float64(usage.Utime.Sec+usage.Stime.Sec) + float64(usage.Utime.Usec+usage.Stime.Usec)/1e6
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
