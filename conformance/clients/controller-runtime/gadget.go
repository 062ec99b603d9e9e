package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Gadget is the program's kind, as controller-gen would have it.
type Gadget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              GadgetSpec   `json:"spec,omitempty"`
	Status            GadgetStatus `json:"status,omitempty"`
}

type GadgetSpec struct {
	Size     int    `json:"size,omitempty"`
	Color    string `json:"color,omitempty"`
	Replicas int    `json:"replicas,omitempty"`
}

type GadgetStatus struct {
	Phase              string             `json:"phase,omitempty"`
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
}

type GadgetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Gadget `json:"items"`
}

var gadgets = schema.GroupVersion{Group: "gadgets.example.com", Version: "v1"}

func addToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(gadgets, &Gadget{}, &GadgetList{})
	metav1.AddToGroupVersion(scheme, gadgets)
	return nil
}

func (in *Gadget) DeepCopyObject() runtime.Object {
	out := new(Gadget)
	in.DeepCopyInto(out)
	return out
}

func (in *Gadget) DeepCopyInto(out *Gadget) {
	*out = *in
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Status.Conditions = append([]metav1.Condition(nil), in.Status.Conditions...)
}

func (in *GadgetList) DeepCopyObject() runtime.Object {
	out := new(GadgetList)
	*out = *in
	in.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = make([]Gadget, len(in.Items))
	for at := range in.Items {
		in.Items[at].DeepCopyInto(&out.Items[at])
	}
	return out
}
