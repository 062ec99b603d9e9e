package main

import (
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func definition() *apiextensions.CustomResourceDefinition {
	zero := float64(0)
	object := func(properties map[string]apiextensions.JSONSchemaProps) apiextensions.JSONSchemaProps {
		return apiextensions.JSONSchemaProps{Type: "object", Properties: properties}
	}
	open := true
	schema := object(map[string]apiextensions.JSONSchemaProps{
		"spec": object(map[string]apiextensions.JSONSchemaProps{
			"size":     {Type: "integer", Minimum: &zero},
			"color":    {Type: "string", Default: &apiextensions.JSON{Raw: []byte(`"red"`)}},
			"replicas": {Type: "integer"},
		}),
		"status": {Type: "object", XPreserveUnknownFields: &open},
	})
	return &apiextensions.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "gadgets." + gadgets.Group},
		Spec: apiextensions.CustomResourceDefinitionSpec{
			Group: gadgets.Group,
			Scope: apiextensions.NamespaceScoped,
			Names: apiextensions.CustomResourceDefinitionNames{Kind: "Gadget", ListKind: "GadgetList", Plural: "gadgets", Singular: "gadget"},
			Versions: []apiextensions.CustomResourceDefinitionVersion{{
				Name: gadgets.Version, Served: true, Storage: true,
				Schema: &apiextensions.CustomResourceValidation{OpenAPIV3Schema: &schema},
				Subresources: &apiextensions.CustomResourceSubresources{
					Status: &apiextensions.CustomResourceSubresourceStatus{},
					Scale:  &apiextensions.CustomResourceSubresourceScale{SpecReplicasPath: ".spec.replicas", StatusReplicasPath: ".status.replicas"},
				},
			}},
		},
	}
}
