package main

import (
	"context"
	"strconv"

	core "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

const finalizer = "gadgets.example.com/cleanup"

// reconciler keeps one child ConfigMap for each Gadget, and leaves a trace when it cleans up.
type reconciler struct {
	client.Client
	recorder events.EventRecorder
}

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var gadget Gadget
	if err := r.Get(ctx, request.NamespacedName, &gadget); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !gadget.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, r.cleanUp(ctx, &gadget)
	}
	if controllerutil.AddFinalizer(&gadget, finalizer) {
		if err := r.Update(ctx, &gadget); err != nil {
			return ctrl.Result{}, err
		}
	}
	child := core.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: gadget.Namespace, Name: gadget.Name + "-child"}}
	outcome, err := controllerutil.CreateOrUpdate(ctx, r.Client, &child, func() error {
		child.Data = map[string]string{"size": strconv.Itoa(gadget.Spec.Size)}
		return controllerutil.SetControllerReference(&gadget, &child, r.Scheme())
	})
	if err != nil {
		return ctrl.Result{}, err
	}
	if outcome != controllerutil.OperationResultNone {
		r.recorder.Eventf(&gadget, &child, core.EventTypeNormal, "ChildWritten", "Write", "child %s", outcome)
	}
	if gadget.Status.ObservedGeneration == gadget.Generation {
		return ctrl.Result{}, nil
	}
	gadget.Status.Phase = "Ready"
	gadget.Status.ObservedGeneration = gadget.Generation
	apimeta.SetStatusCondition(&gadget.Status.Conditions, metav1.Condition{
		Type: "Ready", Status: metav1.ConditionTrue, Reason: "ChildWritten", ObservedGeneration: gadget.Generation,
	})
	return ctrl.Result{}, r.Status().Update(ctx, &gadget)
}

func (r *reconciler) cleanUp(ctx context.Context, gadget *Gadget) error {
	if !controllerutil.ContainsFinalizer(gadget, finalizer) {
		return nil
	}
	trace := core.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: gadget.Namespace, Name: gadget.Name + "-cleaned"}}
	if err := r.Create(ctx, &trace); client.IgnoreAlreadyExists(err) != nil {
		return err
	}
	before := gadget.DeepCopyObject().(*Gadget)
	controllerutil.RemoveFinalizer(gadget, finalizer)
	return client.IgnoreNotFound(r.Patch(ctx, gadget, client.MergeFrom(before)))
}
