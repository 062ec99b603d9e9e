// Does with client-go's typed clients, which send protobuf, what programs do, and prints one line for each step: its
// name and what came of it, without what differs from server to server.
//
//	cd tools/kubernetes && go run ../harvest/clientset/main.go KUBECONFIG
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	corev1apply "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/ptr"
)

const namespace = "clientset"

// What a server assigns, or what its controllers do in the meantime.
var assigned = map[string]bool{
	"uid": true, "resourceVersion": true, "creationTimestamp": true, "deletionTimestamp": true, "managedFields": true,
	"status": true, "clusterIP": true, "clusterIPs": true, "token": true, "time": true, "generation": true,
	"authentication.kubernetes.io/credential-id": true,
}

func strip(value any) any {
	switch typed := value.(type) {
	case map[string]any:
		for key, item := range typed {
			if assigned[key] {
				delete(typed, key)
			} else {
				typed[key] = strip(item)
			}
		}
	case []any:
		for i := range typed {
			typed[i] = strip(typed[i])
		}
	}
	return value
}

func step(name string, result any, err error) {
	line := map[string]any{"step": name}
	if err != nil {
		line["error"] = err.Error()
	} else if result != nil {
		encoded, encodeErr := json.Marshal(result)
		must(encodeErr)
		var plain any
		must(json.Unmarshal(encoded, &plain))
		line["result"] = strip(plain)
	}
	must(json.NewEncoder(os.Stdout).Encode(line))
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: namespace, Labels: map[string]string{"app": "a"}}
}

func template() corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "a"}},
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{{
				Name: "c", Image: "i:1",
				Ports:          []corev1.ContainerPort{{ContainerPort: 80}},
				Env:            []corev1.EnvVar{{Name: "E", Value: "v"}},
				Resources:      corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("100m")}},
				ReadinessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromString("web"), Path: "/"}}},
				VolumeMounts:   []corev1.VolumeMount{{Name: "v", MountPath: "/v"}},
			}},
			Volumes: []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
		},
	}
}

func main() {
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	must(err)
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	must(err)
	definitions, err := apiextensions.NewForConfig(config)
	must(err)
	ctx := context.Background()
	create, update := metav1.CreateOptions{}, metav1.UpdateOptions{}
	core := client.CoreV1()

	space, err := core.Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, create)
	step("create namespace", space, err)

	configMaps := core.ConfigMaps(namespace)
	made, err := configMaps.Create(ctx, &corev1.ConfigMap{ObjectMeta: named("a"), Data: map[string]string{"k": "v"}, BinaryData: map[string][]byte{"b": {0, 1, 255}}}, create)
	step("create config map", made, err)
	_, err = configMaps.Create(ctx, &corev1.ConfigMap{ObjectMeta: named("a")}, create)
	step("create config map again", nil, err)
	changed := made.DeepCopy()
	changed.Data["k"] = "w"
	changed, err = configMaps.Update(ctx, changed, update)
	step("update config map", changed, err)
	_, err = configMaps.Update(ctx, made, update)
	step("update stale config map", nil, err)
	patched, err := configMaps.Patch(ctx, "a", types.StrategicMergePatchType, []byte(`{"data":{"p":"1"}}`), metav1.PatchOptions{})
	step("patch config map", patched, err)
	applied, err := configMaps.Apply(ctx, corev1apply.ConfigMap("a", namespace).WithData(map[string]string{"s": "1"}), metav1.ApplyOptions{FieldManager: "me"})
	step("apply config map", applied, err)
	wrong := types.UID("00000000-0000-0000-0000-000000000000")
	step("delete with wrong uid", nil, configMaps.Delete(ctx, "nope", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &wrong}}))
	step("delete dry", nil, configMaps.Delete(ctx, "a", metav1.DeleteOptions{DryRun: []string{"All"}, PropagationPolicy: ptr.To(metav1.DeletePropagationForeground)}))
	listed, err := configMaps.List(ctx, metav1.ListOptions{LabelSelector: "app=a", Limit: 1})
	step("list config maps", listed.Items, err)

	secret, err := core.Secrets(namespace).Create(ctx, &corev1.Secret{ObjectMeta: named("s"), Data: map[string][]byte{"d": []byte("x")}, StringData: map[string]string{"t": "y"}}, create)
	step("create secret", secret, err)

	deployments := client.AppsV1().Deployments(namespace)
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}}
	deployment, err := deployments.Create(ctx, &appsv1.Deployment{ObjectMeta: named("d"), Spec: appsv1.DeploymentSpec{
		Replicas: ptr.To[int32](0), Selector: selector, Template: template(),
		Strategy: appsv1.DeploymentStrategy{Type: appsv1.RollingUpdateDeploymentStrategyType, RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: ptr.To(intstr.FromString("50%"))}},
	}}, create)
	step("create deployment", deployment, err)
	scale, err := deployments.UpdateScale(ctx, "d", &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Name: "d", Namespace: namespace}, Spec: autoscalingv1.ScaleSpec{Replicas: 0}}, update)
	step("scale deployment", scale, err)
	set, err := client.AppsV1().StatefulSets(namespace).Create(ctx, &appsv1.StatefulSet{ObjectMeta: named("s"), Spec: appsv1.StatefulSetSpec{
		Replicas: ptr.To[int32](0), ServiceName: "s", Selector: selector, Template: template(),
		VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "v2"}, Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{"ReadWriteOnce"},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{"storage": resource.MustParse("1Gi")}},
		}}},
	}}, create)
	step("create stateful set", set, err)
	service, err := core.Services(namespace).Create(ctx, &corev1.Service{ObjectMeta: named("s"), Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "a"}, Ports: []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(8080)}}}}, create)
	step("create service", service, err)
	cron, err := client.BatchV1().CronJobs(namespace).Create(ctx, &batchv1.CronJob{ObjectMeta: named("c"), Spec: batchv1.CronJobSpec{Schedule: "@daily", Suspend: ptr.To(true), JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{RestartPolicy: "Never", Containers: []corev1.Container{{Name: "c", Image: "i"}}}}}}}}, create)
	step("create cron job", cron, err)
	scaler, err := client.AutoscalingV2().HorizontalPodAutoscalers(namespace).Create(ctx, &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: named("h"), Spec: autoscalingv2.HorizontalPodAutoscalerSpec{ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{Kind: "Deployment", Name: "d", APIVersion: "apps/v1"}, MaxReplicas: 3}}, create)
	step("create autoscaler", scaler, err)
	budget, err := client.PolicyV1().PodDisruptionBudgets(namespace).Create(ctx, &policyv1.PodDisruptionBudget{ObjectMeta: named("b"), Spec: policyv1.PodDisruptionBudgetSpec{MinAvailable: ptr.To(intstr.FromInt32(1)), Selector: selector}}, create)
	step("create disruption budget", budget, err)

	pod, err := core.Pods(namespace).Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: namespace}, Spec: template().Spec}, create)
	step("create pod", pod, err)
	step("bind pod", nil, core.Pods(namespace).Bind(ctx, &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: namespace}, Target: corev1.ObjectReference{Kind: "Node", Name: "n"}}, create))
	step("bind pod again", nil, core.Pods(namespace).Bind(ctx, &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: namespace}, Target: corev1.ObjectReference{Kind: "Node", Name: "m"}}, create))
	pod, err = core.Pods(namespace).Get(ctx, "p", metav1.GetOptions{})
	step("get bound pod", pod.Spec.NodeName, err)
	pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.1.2.3", Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}
	pod, err = core.Pods(namespace).UpdateStatus(ctx, pod, update)
	step("update pod status", pod.Status.Phase, err)
	step("evict missing pod", nil, core.Pods(namespace).EvictV1(ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "nope", Namespace: namespace}}))
	step("delete pod at once", nil, core.Pods(namespace).Delete(ctx, "p", metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}))

	account, err := core.ServiceAccounts(namespace).Create(ctx, &corev1.ServiceAccount{ObjectMeta: named("bob")}, create)
	step("create service account", account, err)
	token, err := core.ServiceAccounts(namespace).CreateToken(ctx, "bob", &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: ptr.To[int64](900)}}, create)
	step("create token", token, err)
	review, err := client.AuthenticationV1().TokenReviews().Create(ctx, &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token.Status.Token}}, create)
	step("review token", []any{review.Status.Authenticated, review.Status.User.Username, review.Status.User.Groups}, err)
	access, err := client.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: "x", Groups: []string{"g"}, Extra: map[string]authorizationv1.ExtraValue{"e": {"1", "2"}}, ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "get", Resource: "pods"}}}, create)
	step("review access", []any{access.Spec, access.Status.Allowed}, err)
	own, err := client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: "/x", Verb: "get"}}}, create)
	step("review own access", own.Status.Allowed, err)

	role, err := client.RbacV1().Roles(namespace).Create(ctx, &rbacv1.Role{ObjectMeta: named("r")}, create)
	step("create role without rules", role, err)
	micro := metav1.NewMicroTime(time.Date(2026, 1, 2, 3, 4, 5, 678901000, time.UTC))
	lease, err := client.CoordinationV1().Leases(namespace).Create(ctx, &coordinationv1.Lease{ObjectMeta: named("l"), Spec: coordinationv1.LeaseSpec{HolderIdentity: ptr.To("me"), LeaseDurationSeconds: ptr.To[int32](15), RenewTime: &micro}}, create)
	step("create lease", lease, err)
	lease.ResourceVersion = ""
	_, err = client.CoordinationV1().Leases(namespace).Update(ctx, lease, update)
	step("update lease without version", nil, err)
	event, err := core.Events(namespace).Create(ctx, &corev1.Event{ObjectMeta: named("e"), InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: "p", Namespace: namespace}, Reason: "R", Message: "m", Type: "Normal", Count: 1, FirstTimestamp: metav1.Unix(1e9, 0), LastTimestamp: metav1.Unix(1e9, 0)}, create)
	step("create event", event, err)
	newer, err := client.EventsV1().Events(namespace).Get(ctx, "e", metav1.GetOptions{})
	step("get event of the other group", newer, err)

	definition, err := definitions.ApiextensionsV1().CustomResourceDefinitions().Create(ctx, &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "things.clientset.example"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "clientset.example", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "things", Kind: "Thing"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true, Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
				Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": {Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
					"size": {Type: "integer", Default: &apiextensionsv1.JSON{Raw: []byte("3")}, Minimum: ptr.To(1.0)},
					"list": {Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &apiextensionsv1.JSONSchemaProps{Type: "string", Enum: []apiextensionsv1.JSON{{Raw: []byte(`"x"`)}}}}},
					"map":  {Type: "object", AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true, Schema: &apiextensionsv1.JSONSchemaProps{Type: "string"}}},
				}}},
			}}}},
		},
	}, create)
	step("create definition", definition, err)

	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace))
	informer := factory.Core().V1().ConfigMaps().Informer()
	seen := make(chan string, 100)
	_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) { seen <- "added " + object.(*corev1.ConfigMap).Name },
		DeleteFunc: func(object any) {
			if configMap, ok := object.(*corev1.ConfigMap); ok {
				seen <- "deleted " + configMap.Name
			}
		},
	})
	must(err)
	stop := make(chan struct{})
	factory.Start(stop)
	step("sync informer", cache.WaitForCacheSync(stop, informer.HasSynced), nil)
	step("delete config map", nil, configMaps.Delete(ctx, "a", metav1.DeleteOptions{}))
	deadline := time.After(20 * time.Second)
	for gone := false; !gone; {
		select {
		case what := <-seen:
			if gone = what == "deleted a"; gone {
				step("informer", what, nil)
			}
		case <-deadline:
			must(fmt.Errorf("the informer saw no deletion"))
		}
	}
	close(stop)
	step("delete collection", nil, core.Secrets(namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "app=a"}))
	secrets, err := core.Secrets(namespace).List(ctx, metav1.ListOptions{})
	step("list secrets", len(secrets.Items), err)
	step("delete namespace", nil, core.Namespaces().Delete(ctx, namespace, metav1.DeleteOptions{}))
	step("delete definition", nil, definitions.ApiextensionsV1().CustomResourceDefinitions().Delete(ctx, "things.clientset.example", metav1.DeleteOptions{}))
}
