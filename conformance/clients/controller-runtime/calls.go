package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	corev1apply "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
)

// controllerOptions lets two managers of one process have a controller of one name.
func controllerOptions() config.Controller {
	return config.Controller{SkipNameValidation: ptr.To(true)}
}

// clientCalls asserts on every verb of the typed, the unstructured and the metadata-only client.
func clientCalls(ctx context.Context, direct client.Client) {
	names := []string{"c0", "c1", "c2", "c3", "c4"}
	for _, name := range names {
		must(direct.Create(ctx, &core.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"part": "calls"}},
			Data:       map[string]string{"a": "1"},
		}))
	}
	err := direct.Create(ctx, &core.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "c0"}})
	assert(errors.IsAlreadyExists(err), fmt.Sprint("an existing name: ", err))

	var page core.ConfigMapList
	var seen []string
	for {
		must(direct.List(ctx, &page, client.InNamespace(namespace), client.MatchingLabels{"part": "calls"}, client.Limit(2), client.Continue(page.Continue)))
		for _, item := range page.Items {
			seen = append(seen, item.Name)
		}
		if page.Continue == "" {
			break
		}
	}
	assert(slices.Equal(seen, names), fmt.Sprint("a list in pages: ", seen))

	var stale, fresh core.ConfigMap
	key := client.ObjectKey{Namespace: namespace, Name: "c0"}
	must(direct.Get(ctx, key, &stale))
	must(direct.Get(ctx, key, &fresh))
	fresh.Data["a"] = "2"
	must(direct.Update(ctx, &fresh))
	assert(errors.IsConflict(direct.Update(ctx, &stale)), "a stale update conflicts")
	locked := client.MergeFromWithOptions(stale.DeepCopy(), client.MergeFromWithOptimisticLock{})
	stale.Data["a"] = "3"
	assert(errors.IsConflict(direct.Patch(ctx, &stale, locked)), "a locked patch conflicts")

	before := fresh.DeepCopy()
	fresh.Data["b"] = "strategic"
	must(direct.Patch(ctx, &fresh, client.StrategicMergeFrom(before)))
	must(direct.Patch(ctx, &fresh, client.RawPatch(types.JSONPatchType, []byte(`[{"op":"remove","path":"/data/a"}]`))))
	assert(len(fresh.Data) == 1 && fresh.Data["b"] == "strategic", "both patches")

	applied := corev1apply.ConfigMap("applied", namespace).WithData(map[string]string{"a": "1"})
	must(direct.Apply(ctx, applied, client.FieldOwner("one")))
	other := corev1apply.ConfigMap("applied", namespace).WithData(map[string]string{"a": "2"})
	err = direct.Apply(ctx, other, client.FieldOwner("two"))
	assert(errors.IsConflict(err) && strings.Contains(err.Error(), `conflict with "one": .data.a`), fmt.Sprint("a conflict of apply: ", err))
	must(direct.Apply(ctx, other, client.FieldOwner("two"), client.ForceOwnership))

	untyped := &unstructured.Unstructured{}
	untyped.SetGroupVersionKind(gadgets.WithKind("Gadget"))
	untyped.SetNamespace(namespace)
	untyped.SetGenerateName("untyped-")
	must(unstructured.SetNestedField(untyped.Object, int64(-1), "spec", "size"))
	err = direct.Create(ctx, untyped)
	assert(errors.IsInvalid(err), fmt.Sprint("a size under its minimum: ", err))
	must(unstructured.SetNestedField(untyped.Object, int64(1), "spec", "size"))
	must(direct.Create(ctx, untyped))
	assert(strings.HasPrefix(untyped.GetName(), "untyped-"), "a generated name")
	scale := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "autoscaling/v1", "kind": "Scale"}}
	err = direct.SubResource("scale").Get(ctx, untyped, scale)
	assert(errors.IsInternalError(err), fmt.Sprint("the scale of an object without replicas: ", err))
	must(unstructured.SetNestedField(untyped.Object, int64(2), "spec", "replicas"))
	must(direct.Update(ctx, untyped))
	must(direct.SubResource("scale").Get(ctx, untyped, scale))
	must(unstructured.SetNestedField(scale.Object, int64(5), "spec", "replicas"))
	must(direct.SubResource("scale").Update(ctx, untyped, client.WithSubResourceBody(scale)))
	must(direct.Get(ctx, client.ObjectKeyFromObject(untyped), untyped))
	replicas, _, err := unstructured.NestedInt64(untyped.Object, "spec", "replicas")
	must(err)
	assert(replicas == 5, "scaled")

	metadata := &metav1.PartialObjectMetadata{}
	metadata.SetGroupVersionKind(gadgets.WithKind("Gadget"))
	must(direct.Get(ctx, client.ObjectKeyFromObject(untyped), metadata))
	assert(metadata.UID == untyped.GetUID(), "metadata alone")
	must(direct.Delete(ctx, untyped, client.Preconditions{UID: ptr.To(untyped.GetUID())}))

	dry := &core.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "dry"}}
	must(direct.Create(ctx, dry, client.DryRunAll))
	assert(errors.IsNotFound(direct.Get(ctx, client.ObjectKeyFromObject(dry), dry)), "a dry run leaves nothing")
	must(direct.DeleteAllOf(ctx, &core.ConfigMap{}, client.InNamespace(namespace), client.MatchingLabels{"part": "calls"}))
	must(direct.List(ctx, &page, client.InNamespace(namespace), client.MatchingLabels{"part": "calls"}))
	assert(len(page.Items) == 0, "all of them deleted")
	done("every verb of the client")
}

// cached asserts that the manager's cache follows the server, by name, by label and by its own index.
func cached(ctx context.Context, reader client.Client, objects cache.Cache) {
	for _, color := range []string{"blue", "blue", "green"} {
		must(reader.Create(ctx, &Gadget{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: color + "-"}, Spec: GadgetSpec{Color: color}}))
	}
	var list GadgetList
	until("the index has both", func() bool {
		must(reader.List(ctx, &list, client.InNamespace(namespace), client.MatchingFields{"spec.color": "blue"}))
		return len(list.Items) == 2
	})
	until("all are reconciled in the cache", func() bool {
		must(objects.List(ctx, &list, client.InNamespace(namespace)))
		return !slices.ContainsFunc(list.Items, func(gadget Gadget) bool { return gadget.Status.Phase != "Ready" })
	})
	metadata := &metav1.PartialObjectMetadataList{}
	metadata.SetGroupVersionKind(core.SchemeGroupVersion.WithKind("ConfigMapList"))
	must(reader.List(ctx, metadata, client.InNamespace(namespace)))
	assert(len(metadata.Items) >= 3, "a cache of metadata")
	must(reader.DeleteAllOf(ctx, &Gadget{}, client.InNamespace(namespace)))
	until("the cache is empty", func() bool {
		must(reader.List(ctx, &list, client.InNamespace(namespace)))
		return len(list.Items) == 0
	})
	done("cache by name, index and metadata")
}
