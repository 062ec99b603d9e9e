// The peer's operator of the benchmark: program apply|update NAMESPACE CONCURRENCY REVISION COUNT PACED. Prints how long the
// first COUNT writes took, then how late the reconciles of PACED later events began; ends after that.
package main

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"strconv"
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
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

type reconciler struct {
	client.Client
	revision     string
	applies      bool
	count, paced int

	mutex     sync.Mutex
	started   time.Time
	writes    int
	latencies []float64
}

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	entered := time.Now()
	var site Website
	if err := r.Get(ctx, request.NamespacedName, &site); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	data := map[string]string{"image": site.Spec.Image, "sentAt": site.Spec.SentAt, "revision": r.revision}
	r.begin(entered)
	write := r.createOrUpdate
	if r.applies {
		write = r.apply
	}
	wrote, err := write(ctx, &site, data)
	if wrote && err == nil {
		r.end(entered, site.Spec.SentAt)
	}
	return ctrl.Result{}, err
}

// The way of most operators: read, then create or update where something differs.
func (r *reconciler) createOrUpdate(ctx context.Context, site *Website, data map[string]string) (bool, error) {
	child := &corev1.ConfigMap{}
	child.Namespace, child.Name = site.Namespace, site.Name
	result, err := controllerutil.CreateOrUpdate(ctx, r.Client, child, func() error {
		child.Data = data
		return controllerutil.SetControllerReference(site, child, r.Scheme())
	})
	return result != controllerutil.OperationResultNone, err
}

// Server-side apply, which is what ours does. Left out where the cache shows the same.
func (r *reconciler) apply(ctx context.Context, site *Website, data map[string]string) (bool, error) {
	var child corev1.ConfigMap
	err := r.Get(ctx, client.ObjectKeyFromObject(site), &child)
	if err == nil && maps.Equal(child.Data, data) {
		return false, nil
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return false, err
	}
	owner := metav1apply.OwnerReference().WithAPIVersion(version.String()).WithKind("Website").
		WithName(site.Name).WithUID(site.UID).WithController(true).WithBlockOwnerDeletion(true)
	desired := corev1apply.ConfigMap(site.Name, site.Namespace).WithOwnerReferences(owner).WithData(data)
	return true, r.Apply(ctx, desired, client.FieldOwner("bench"), client.ForceOwnership)
}

func (r *reconciler) begin(entered time.Time) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.started.IsZero() {
		r.started = entered
	}
}

func (r *reconciler) end(entered time.Time, sentAt string) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.writes >= r.count {
		sentMs, err := strconv.ParseFloat(sentAt, 64)
		must(err)
		r.latencies = append(r.latencies, float64(entered.UnixNano())/1e6-sentMs)
	}
	r.writes++
	if r.writes == r.count {
		print(map[string]any{"seconds": time.Since(r.started).Seconds()})
	}
	if r.writes == r.count+r.paced {
		var usage syscall.Rusage
		must(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
		print(map[string]any{"latenciesMs": r.latencies, "cpuSeconds": cpu(usage.Utime) + cpu(usage.Stime)})
		os.Exit(0)
	}
}

func main() {
	namespace, concurrency := os.Args[2], number(os.Args[3])
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
	must(ctrl.NewControllerManagedBy(manager).For(&Website{}).Owns(&corev1.ConfigMap{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: concurrency}).
		Complete(&reconciler{
			Client:   manager.GetClient(),
			applies:  os.Args[1] == "apply",
			revision: os.Args[4],
			count:    number(os.Args[5]),
			paced:    number(os.Args[6]),
		}))
	must(manager.Start(context.Background()))
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	must(err)
	return n
}

func cpu(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }

func print(value any) { must(json.NewEncoder(os.Stdout).Encode(value)) }

func must(err error) {
	if err != nil {
		panic(err)
	}
}
