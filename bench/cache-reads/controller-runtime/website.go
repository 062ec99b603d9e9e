package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Website is the benchmark's kind, as controller-gen would have it.
type Website struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              WebsiteSpec   `json:"spec,omitempty"`
	Status            WebsiteStatus `json:"status,omitempty"`
}

type WebsiteSpec struct {
	Number   int               `json:"number"`
	Image    string            `json:"image,omitempty"`
	Replicas int               `json:"replicas,omitempty"`
	Hosts    []string          `json:"hosts,omitempty"`
	Env      []EnvVar          `json:"env,omitempty"`
	Settings map[string]string `json:"settings,omitempty"`
	Shard    string            `json:"shard,omitempty"`
}

type EnvVar struct {
	Name  string `json:"name"`
	Value string `json:"value,omitempty"`
}

type WebsiteStatus struct {
	Ready      int         `json:"ready,omitempty"`
	Conditions []Condition `json:"conditions,omitempty"`
}

type Condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

type WebsiteList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Website `json:"items"`
}

func AddToScheme(scheme *runtime.Scheme) {
	version := schema.GroupVersion{Group: "bench.example.com", Version: "v1"}
	scheme.AddKnownTypes(version, &Website{}, &WebsiteList{})
	metav1.AddToGroupVersion(scheme, version)
}

func (in *Website) DeepCopyObject() runtime.Object {
	out := new(Website)
	in.DeepCopyInto(out)
	return out
}

func (in *Website) DeepCopyInto(out *Website) {
	*out = *in
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Spec.Hosts = append([]string(nil), in.Spec.Hosts...)
	out.Spec.Env = append([]EnvVar(nil), in.Spec.Env...)
	if in.Spec.Settings != nil {
		out.Spec.Settings = make(map[string]string, len(in.Spec.Settings))
		for key, value := range in.Spec.Settings {
			out.Spec.Settings[key] = value
		}
	}
	out.Status.Conditions = append([]Condition(nil), in.Status.Conditions...)
}

func (in *WebsiteList) DeepCopyObject() runtime.Object {
	out := new(WebsiteList)
	*out = *in
	in.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = make([]Website, len(in.Items))
	for at := range in.Items {
		in.Items[at].DeepCopyInto(&out.Items[at])
	}
	return out
}
