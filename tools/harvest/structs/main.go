// Prints the server's internal structs as its error messages show them: for each its fields in Go's order, with their names,
// the JSON names that the API has for them, and their types. Run within a module that has the Kubernetes modules:
//
//	cd tools/kubernetes && go run ../harvest/structs/main.go
package main

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"

	adm "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/kubernetes/pkg/apis/admissionregistration"
	"k8s.io/kubernetes/pkg/apis/apps"
	"k8s.io/kubernetes/pkg/apis/autoscaling"
	"k8s.io/kubernetes/pkg/apis/batch"
	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/apis/policy"
)

// What messages show, beside what the API has in its place.
var roots = [][2]any{
	{core.PodTemplateSpec{}, corev1.PodTemplateSpec{}},
	{core.Taint{}, corev1.Taint{}},
	{core.ObjectReference{}, corev1.ObjectReference{}},
	{core.VolumeNodeAffinity{}, corev1.VolumeNodeAffinity{}},
	{core.PersistentVolumeSource{}, corev1.PersistentVolumeSource{}},
	{core.ScopeSelector{}, corev1.ScopeSelector{}},
	{core.PersistentVolumeClaimSpec{}, corev1.PersistentVolumeClaimSpec{}},
	{core.EventSeries{}, corev1.EventSeries{}},
	{core.EventSource{}, corev1.EventSource{}},
	{core.TopologySelectorTerm{}, corev1.TopologySelectorTerm{}},
	{apps.DeploymentStrategy{}, appsv1.DeploymentStrategy{}},
	{apps.DaemonSetUpdateStrategy{}, appsv1.DaemonSetUpdateStrategy{}},
	{apps.StatefulSetUpdateStrategy{}, appsv1.StatefulSetUpdateStrategy{}},
	{batch.JobSpec{}, batchv1.JobSpec{}},
	{batch.JobStatus{}, batchv1.JobStatus{}},
	{policy.PodDisruptionBudgetSpec{}, policyv1.PodDisruptionBudgetSpec{}},
	{autoscaling.MetricTarget{}, autoscalingv2.MetricTarget{}},
	{admissionregistration.ParamRef{}, adm.ParamRef{}},
}

// name → [[name as shown ("" where inlined), type, JSON name where it is not the shown one with a small letter]…]
type table map[string][][]string

func nameOf(of reflect.Type) string {
	segments := strings.Split(strings.TrimSuffix(of.PkgPath(), "/v1"), "/")
	return segments[len(segments)-1] + "." + of.Name()
}

// isShown tells the structs that are shown field by field: the internal ones, which have no JSON names, and metadata.
func isShown(of reflect.Type) bool {
	_, marshals := reflect.New(of).Interface().(json.Marshaler)
	return of.Kind() == reflect.Struct && strings.Contains(of.PkgPath(), "/pkg/apis/") && !marshals
}

func elem(of reflect.Type) reflect.Type {
	for of != nil && (of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice || of.Kind() == reflect.Map) {
		of = of.Elem()
	}
	return of
}

func (t table) add(of, external reflect.Type) {
	name := nameOf(of)
	if _, ok := t[name]; ok {
		return
	}
	t[name] = [][]string{}
	rows := [][]string{}
	for i := range of.NumField() {
		if f := of.Field(i); f.Name != "TypeMeta" && f.Name != "ManagedFields" {
			rows = append(rows, t.row(f, external))
		}
	}
	t[name] = rows
}

func (t table) row(f reflect.StructField, external reflect.Type) []string {
	shown, suffix := f.Name, ""
	tag := strings.Split(f.Tag.Get("json"), ",")
	if tag[0] != "" {
		shown = tag[0]
	}
	if len(tag) > 1 {
		suffix = "?"
	}
	jsonName := strings.ToLower(shown[:1]) + shown[1:]
	plainName := jsonName
	outer := elem(f.Type)
	if e, ok := external.FieldByName(f.Name); ok {
		outer = elem(e.Type)
		if tag := strings.Split(e.Tag.Get("json"), ",")[0]; tag != "" {
			jsonName = tag
		} else if f.Anonymous {
			jsonName = ""
		}
	}
	if f.Anonymous {
		return []string{"", t.typeName(f.Type, outer), jsonName}
	}
	row := []string{shown, t.typeName(f.Type, outer) + suffix}
	if jsonName != plainName {
		row = append(row, jsonName)
	}
	return row
}

// A struct by its name, `*` before what may be null, `[]` and `{}` before what there are many of, else the zero value;
// `?` after what is left out where it is empty.
func (t table) typeName(of, external reflect.Type) string {
	if isShown(of) {
		t.add(of, external)
		return nameOf(of)
	}
	prefix := map[reflect.Kind]string{reflect.Pointer: "*", reflect.Slice: "[]", reflect.Map: "{}"}[of.Kind()]
	if prefix != "" {
		if isShown(of.Elem()) {
			return prefix + t.typeName(of.Elem(), external)
		}
		return "null"
	}
	zero, err := json.Marshal(reflect.Zero(of).Interface())
	if err != nil {
		panic(err)
	}
	return string(zero)
}

func main() {
	result := table{}
	for _, root := range roots {
		result.add(reflect.TypeOf(root[0]), reflect.TypeOf(root[1]))
	}
	if err := json.NewEncoder(os.Stdout).Encode(result); err != nil {
		panic(err)
	}
}
