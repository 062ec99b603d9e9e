// Prints objects of every built-in kind, filled at random, each encoded as protobuf and as JSON by Go's own encoders:
// one line of JSON for each, {"apiVersion", "kind", "protobuf" (base64), "json"}.
//
//	cd tools/kubernetes && go run ../harvest/roundtrip/main.go SEED ROUNDS apps/v1 v1 …
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"sort"
	"strconv"
	"strings"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	"k8s.io/apimachinery/pkg/api/resource"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistration "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/randfill"
)

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// Values that random filling does not make valid.
func valid(codecs serializer.CodecFactory) []any {
	return []any{
		func(q *resource.Quantity, c randfill.Continue) {
			suffixes := []string{"", "m", "Ki", "Mi", "Gi", "k", "M"}
			*q = resource.MustParse(strconv.Itoa(c.Rand.Intn(2000)) + suffixes[c.Rand.Intn(len(suffixes))])
			_ = q.String()
		},
		func(raw *runtime.RawExtension, c randfill.Continue) {
			*raw = runtime.RawExtension{Raw: []byte(`{"a":[1,"b",null,{"c":true}]}`)}
		},
		func(value *apiextensions.JSON, c randfill.Continue) {
			samples := []string{`{"x":1}`, `"s"`, `[1,2]`, `true`, `3.5`}
			value.Raw = []byte(samples[c.Rand.Intn(len(samples))])
		},
		func(fields *metav1.FieldsV1, c randfill.Continue) { fields.Raw = []byte(`{"f:a":{"f:b":{}}}`) },
		func(time *metav1.MicroTime, c randfill.Continue) {
			if c.Bool() {
				*time = metav1.NewMicroTime(metav1.Unix(int64(c.Rand.Intn(1<<31)), int64(c.Rand.Intn(1e6))*1000).Time)
			}
		},
		func(s *apiextensions.JSONSchemaProps, c randfill.Continue) {
			if c.Rand.Intn(3) > 0 {
				s.Type = "string"
				return
			}
			c.FillNoCustom(s)
		},
		func(s *apiextensions.JSONSchemaPropsOrBool, c randfill.Continue) {
			s.Allows = c.Bool()
			if c.Rand.Intn(4) == 0 {
				s.Allows, s.Schema = true, &apiextensions.JSONSchemaProps{Type: "integer"}
			}
		},
		func(s *apiextensions.JSONSchemaPropsOrArray, c randfill.Continue) {
			if c.Bool() {
				s.Schema = &apiextensions.JSONSchemaProps{Type: "integer"}
			} else {
				s.JSONSchemas = []apiextensions.JSONSchemaProps{{Type: "string"}, {Title: "t"}}
			}
		},
		func(s *apiextensions.JSONSchemaPropsOrStringArray, c randfill.Continue) {
			if c.Bool() {
				s.Property = []string{"a", "b"}
			} else {
				s.Schema = &apiextensions.JSONSchemaProps{Type: "integer"}
			}
		},
	}
}

func main() {
	seed, err := strconv.ParseInt(os.Args[1], 10, 64)
	must(err)
	rounds, err := strconv.Atoi(os.Args[2])
	must(err)
	all := scheme.Scheme
	must(apiextensions.AddToScheme(all))
	must(apiregistration.AddToScheme(all))
	codecs := serializer.NewCodecFactory(all)
	fill := fuzzer.FuzzerFor(fuzzer.MergeFuzzerFuncs(metafuzzer.Funcs, valid), rand.NewSource(seed), codecs)
	encoder := protobuf.NewSerializer(all, all)
	output := json.NewEncoder(os.Stdout)
	for _, text := range os.Args[3:] {
		gv, err := schema.ParseGroupVersion(text)
		must(err)
		types := all.KnownTypes(gv)
		kinds := []string{}
		for kind := range types {
			isMeta := strings.HasSuffix(types[kind].PkgPath(), "/meta/v1")
			if kind == "DeleteOptions" || (!isMeta && !strings.HasSuffix(kind, "List")) {
				kinds = append(kinds, kind)
			}
		}
		sort.Strings(kinds)
		for _, kind := range kinds {
			for round := 0; round < rounds; round++ {
				object, err := all.New(gv.WithKind(kind))
				must(err)
				if round > 0 {
					fill.Fill(object)
				}
				object.GetObjectKind().SetGroupVersionKind(gv.WithKind(kind))
				var encoded bytes.Buffer
				if err := encoder.Encode(object, &encoded); err != nil {
					panic(fmt.Sprintf("%s %s: %s", text, kind, err))
				}
				// What the server sees: decoded again, then written as JSON.
				decoded, _, err := encoder.Decode(encoded.Bytes(), nil, nil)
				must(err)
				decoded.GetObjectKind().SetGroupVersionKind(gv.WithKind(kind))
				plain, err := json.Marshal(decoded)
				must(err)
				must(output.Encode(map[string]any{"apiVersion": text, "kind": kind, "protobuf": encoded.Bytes(), "json": json.RawMessage(plain)}))
			}
		}
	}
}
