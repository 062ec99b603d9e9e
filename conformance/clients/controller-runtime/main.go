// An operator in controller-runtime: manager with leader election, typed client and cache, a controller with children,
// status and finalizer, and the calls of the client. Prints one line for each step that it has asserted.
package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/go-logr/logr/funcr"
	coordination "k8s.io/api/coordination/v1"
	core "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const namespace = "controller-runtime"

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Second)
	defer cancel()
	ctrl.SetLogger(funcr.New(func(prefix, line string) { fmt.Fprintln(os.Stderr, prefix, line) }, funcr.Options{}))
	utilruntime.Must(addToScheme(scheme.Scheme))
	utilruntime.Must(apiextensions.AddToScheme(scheme.Scheme))

	direct, err := client.New(ctrl.GetConfigOrDie(), client.Options{Scheme: scheme.Scheme})
	must(err)
	must(direct.Create(ctx, &core.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}))
	define(ctx, direct)
	clientCalls(ctx, direct)

	first, stopFirst := startManager(ctx, scheme.Scheme)
	until("the lease is held", func() bool { return leaseHolder(ctx, direct) != "" })
	<-first.Elected()
	done("leader elected")
	controller(ctx, direct)
	cached(ctx, first.GetClient(), first.GetCache())

	holder := leaseHolder(ctx, direct)
	second, stopSecond := startManager(ctx, scheme.Scheme)
	stopFirst()
	<-second.Elected()
	until("the lease has changed hands", func() bool { now := leaseHolder(ctx, direct); return now != "" && now != holder })
	stopSecond()
	done("leadership handed over")

	must(direct.DeleteAllOf(ctx, &core.ConfigMap{}, client.InNamespace(namespace)))
	must(direct.Delete(ctx, definition()))
	until("the definition is gone", func() bool {
		return gone(direct.Get(ctx, client.ObjectKeyFromObject(definition()), definition()))
	})
	must(direct.Delete(ctx, &core.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}))
	done("definition and namespace deleted")
}

func define(ctx context.Context, direct client.Client) {
	must(direct.Create(ctx, definition()))
	until("the definition is established", func() bool {
		now := definition()
		must(direct.Get(ctx, client.ObjectKeyFromObject(now), now))
		for _, condition := range now.Status.Conditions {
			if condition.Type == apiextensions.Established && condition.Status == apiextensions.ConditionTrue {
				return true
			}
		}
		return false
	})
	done("definition established")
}

func startManager(ctx context.Context, scheme *runtime.Scheme) (manager.Manager, func()) {
	lease, renew, retry := 15*time.Second, 10*time.Second, 2*time.Second
	mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		Scheme:                        scheme,
		Metrics:                       server.Options{BindAddress: "0"},
		LeaderElection:                true,
		LeaderElectionID:              "gadgets.example.com",
		LeaderElectionNamespace:       namespace,
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 &lease,
		RenewDeadline:                 &renew,
		RetryPeriod:                   &retry,
		Controller:                    controllerOptions(),
	})
	must(err)
	must(mgr.GetFieldIndexer().IndexField(ctx, &Gadget{}, "spec.color", func(object client.Object) []string {
		return []string{object.(*Gadget).Spec.Color}
	}))
	must(ctrl.NewControllerManagedBy(mgr).
		For(&Gadget{}).
		Owns(&core.ConfigMap{}).
		Complete(&reconciler{Client: mgr.GetClient(), recorder: mgr.GetEventRecorder("gadgets")}))
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(running) }()
	return mgr, func() {
		stop()
		must(<-ended)
	}
}

func leaseHolder(ctx context.Context, direct client.Client) string {
	var lease coordination.Lease
	key := client.ObjectKey{Namespace: namespace, Name: "gadgets.example.com"}
	if err := direct.Get(ctx, key, &lease); err != nil || lease.Spec.HolderIdentity == nil {
		must(client.IgnoreNotFound(err))
		return ""
	}
	return *lease.Spec.HolderIdentity
}

// controller sees the manager's controller do its work from outside.
func controller(ctx context.Context, direct client.Client) {
	gadget := &Gadget{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "owner"}, Spec: GadgetSpec{Size: 3}}
	must(direct.Create(ctx, gadget))
	key, childKey := client.ObjectKeyFromObject(gadget), client.ObjectKey{Namespace: namespace, Name: "owner-child"}
	until("the status is written", func() bool {
		must(direct.Get(ctx, key, gadget))
		return gadget.Status.Phase == "Ready" && gadget.Status.ObservedGeneration == gadget.Generation
	})
	assert(gadget.Spec.Color == "red", "the default of the schema")
	assert(len(gadget.Finalizers) == 1 && gadget.Finalizers[0] == finalizer, "the finalizer")
	var child core.ConfigMap
	must(direct.Get(ctx, childKey, &child))
	assert(child.Data["size"] == "3" && metav1.IsControlledBy(&child, gadget), "the child")

	gadget.Spec.Size = 4
	must(direct.Update(ctx, gadget))
	until("the change reaches the child", func() bool { must(direct.Get(ctx, childKey, &child)); return child.Data["size"] == "4" })
	uid := child.UID
	must(direct.Delete(ctx, &child))
	until("the child is made again", func() bool {
		err := direct.Get(ctx, childKey, &child)
		must(client.IgnoreNotFound(err))
		return err == nil && child.UID != uid
	})
	until("an event is recorded", func() bool {
		var events eventsv1.EventList
		must(direct.List(ctx, &events, client.InNamespace(namespace)))
		return slices.ContainsFunc(events.Items, func(event eventsv1.Event) bool {
			return event.Regarding.Name == "owner" && event.Reason == "ChildWritten"
		})
	})
	must(direct.Delete(ctx, gadget, client.PropagationPolicy(metav1.DeletePropagationBackground)))
	until("owner and child are gone", func() bool {
		return gone(direct.Get(ctx, key, gadget)) && gone(direct.Get(ctx, childKey, &child))
	})
	must(direct.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "owner-cleaned"}, &child))
	done("controller with children, status and finalizer")
}

func gone(err error) bool {
	must(client.IgnoreNotFound(err))
	return err != nil
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func assert(held bool, what string) {
	if !held {
		panic("not so: " + what)
	}
}

// until asks again, for half a minute at most.
func until(what string, held func() bool) {
	for range 600 {
		if held() {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	panic(what + ": not within half a minute")
}

func done(step string) { fmt.Println(step) }
