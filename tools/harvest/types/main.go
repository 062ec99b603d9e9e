// Prints how Go encodes every built-in kind: for each message its fields in struct order, with protobuf number, JSON
// name, type and omission rule. Run within a module that has the Kubernetes modules:
//
//	cd tools/kubernetes && go run ../harvest/types/main.go apps/v1 v1 …
//
// The arguments are the group versions that the server serves.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"sort"
	"strconv"
	"strings"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistration "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// Types that write their own JSON; the decoder knows each by name.
var special = map[reflect.Type]string{
	reflect.TypeOf(metav1.Time{}):                                "@Time",
	reflect.TypeOf(metav1.MicroTime{}):                           "@MicroTime",
	reflect.TypeOf(metav1.Duration{}):                            "@Duration",
	reflect.TypeOf(metav1.FieldsV1{}):                            "@FieldsV1",
	reflect.TypeOf(resource.Quantity{}):                          "@Quantity",
	reflect.TypeOf(intstr.IntOrString{}):                         "@IntOrString",
	reflect.TypeOf(runtime.RawExtension{}):                       "@RawExtension",
	reflect.TypeOf(apiextensions.JSON{}):                         "@JSON",
	reflect.TypeOf(apiextensions.JSONSchemaPropsOrBool{}):        "@SchemaOrBool",
	reflect.TypeOf(apiextensions.JSONSchemaPropsOrArray{}):       "@SchemaOrArray",
	reflect.TypeOf(apiextensions.JSONSchemaPropsOrStringArray{}): "@SchemaOrStrings",
}

type field struct {
	goName   string
	number   int
	name     string
	typeName string
	omission int
}

// [number, JSON name ("" where inlined), type, 0 always written | 1 omitempty | 2 omitzero], and the Go name, which
// errors show, where it is not the JSON name with a capital letter.
func (f field) MarshalJSON() ([]byte, error) {
	row := []any{f.number, f.name, f.typeName, f.omission}
	if f.name == "" || strings.ToUpper(f.name[:1])+f.name[1:] != f.goName {
		row = append(row, f.goName)
	}
	return json.Marshal(row)
}

type table struct {
	Kinds    map[string]int `json:"kinds"`
	Messages [][]any        `json:"messages"`
	index    map[reflect.Type]int
}

func openAPIName(t reflect.Type) string {
	segments := strings.Split(t.PkgPath(), "/")
	host := strings.Split(segments[0], ".")
	for i, j := 0, len(host)-1; i < j; i, j = i+1, j-1 {
		host[i], host[j] = host[j], host[i]
	}
	return strings.Join(append(append(host, segments[1:]...), t.Name()), ".")
}

func (t *table) message(of reflect.Type) int {
	if at, ok := t.index[of]; ok {
		return at
	}
	at := len(t.Messages)
	t.index[of] = at
	t.Messages = append(t.Messages, nil)
	fields := []field{}
	for i := 0; i < of.NumField(); i++ {
		if f, ok := t.field(of, of.Field(i)); ok {
			fields = append(fields, f)
		}
	}
	t.Messages[at] = []any{openAPIName(of), fields}
	return at
}

func (t *table) field(owner reflect.Type, f reflect.StructField) (field, bool) {
	tag := strings.Split(f.Tag.Get("json"), ",")
	proto := strings.Split(f.Tag.Get("protobuf"), ",")
	if tag[0] == "-" || f.Type == reflect.TypeOf(metav1.TypeMeta{}) {
		return field{}, false
	}
	if len(proto) < 2 {
		panic(fmt.Sprintf("%s.%s has no protobuf number", owner, f.Name))
	}
	number, err := strconv.Atoi(proto[1])
	if err != nil {
		panic(fmt.Sprintf("%s.%s: %s", owner, f.Name, err))
	}
	omission := 0
	for _, option := range tag[1:] {
		switch option {
		case "omitempty":
			omission = max(omission, 1)
		case "omitzero":
			omission = 2
		}
	}
	return field{f.Name, number, tag[0], t.typeName(f.Type), omission}, true
}

func (t *table) typeName(of reflect.Type) string {
	if name, ok := special[of]; ok {
		return name
	}
	switch of.Kind() {
	case reflect.Pointer:
		return "*" + t.typeName(of.Elem())
	case reflect.Struct:
		return "#" + strconv.Itoa(t.message(of))
	case reflect.Slice:
		if of.Elem().Kind() == reflect.Uint8 {
			return "bytes"
		}
		// A named list that marshals itself is a message with its items in field 1.
		if _, wrapped := reflect.PointerTo(of).MethodByName("Marshal"); wrapped {
			return "()" + t.typeName(of.Elem())
		}
		return "[]" + t.typeName(of.Elem())
	case reflect.Map:
		if of.Key().Kind() != reflect.String {
			panic("map key of " + of.String())
		}
		return "{}" + t.typeName(of.Elem())
	case reflect.String, reflect.Bool, reflect.Int32, reflect.Int64, reflect.Float64:
		return of.Kind().String()
	}
	panic("no name for " + of.String())
}

func main() {
	all := scheme.Scheme
	for _, add := range []func(*runtime.Scheme) error{apiextensions.AddToScheme, apiregistration.AddToScheme} {
		if err := add(all); err != nil {
			panic(err)
		}
	}
	result := table{Kinds: map[string]int{}, index: map[reflect.Type]int{}}
	for _, text := range append(os.Args[1:], "meta.k8s.io/v1") {
		gv, err := schema.ParseGroupVersion(text)
		if err != nil {
			panic(err)
		}
		types := all.KnownTypes(gv)
		kinds := []string{}
		for kind := range types {
			kinds = append(kinds, kind)
		}
		sort.Strings(kinds)
		for _, kind := range kinds {
			of := types[kind]
			isMeta := strings.HasSuffix(of.PkgPath(), "/meta/v1")
			if kind == "WatchEvent" || strings.HasSuffix(kind, "List") || (isMeta && gv.Group != "meta.k8s.io") {
				continue
			}
			result.Kinds[text+"/"+kind] = result.message(of)
		}
	}
	for _, options := range []any{metav1.DeleteOptions{}, metav1.CreateOptions{}, metav1.UpdateOptions{}, metav1.PatchOptions{}} {
		of := reflect.TypeOf(options)
		result.Kinds["meta.k8s.io/v1/"+of.Name()] = result.message(of)
	}
	result.message(reflect.TypeOf(apiextensions.JSONSchemaProps{}))
	if err := json.NewEncoder(os.Stdout).Encode(result); err != nil {
		panic(err)
	}
}
