"""An operator's calls with the official Python client. Prints one line for each step that it has asserted."""

import time

import yaml
from kubernetes import client, config, dynamic, utils, watch
from kubernetes.client.rest import ApiException

NAMESPACE = "python"
GROUP = "python.example.com"

config.load_kube_config()
core = client.CoreV1Api()
apps = client.AppsV1Api()
custom = client.CustomObjectsApi()
definitions = client.ApiextensionsV1Api()


def failure(call, *args, **options):
    """The code and the reason of the error that a call ends in."""
    try:
        call(*args, **options)
    except ApiException as error:
        return error.status, yaml.safe_load(error.body)["reason"]
    raise AssertionError("the call succeeded")


def until(what, held):
    for _ in range(600):
        if held():
            return
        time.sleep(0.05)
    raise AssertionError(f"{what}: not within half a minute")


def gone(call, *args):
    try:
        call(*args)
    except ApiException as error:
        return error.status == 404
    return False


def config_map(name, **metadata):
    return client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name, **metadata), data={"k": name})


def define():
    core.create_namespace(client.V1Namespace(metadata=client.V1ObjectMeta(name=NAMESPACE)))
    properties = {
        "spec": client.V1JSONSchemaProps(
            type="object",
            properties={
                "size": client.V1JSONSchemaProps(type="integer", minimum=0),
                "color": client.V1JSONSchemaProps(type="string", default="red"),
            },
        ),
        "status": client.V1JSONSchemaProps(type="object", x_kubernetes_preserve_unknown_fields=True),
    }
    version = client.V1CustomResourceDefinitionVersion(
        name="v1",
        served=True,
        storage=True,
        subresources=client.V1CustomResourceSubresources(status={}),
        schema=client.V1CustomResourceValidation(
            open_apiv3_schema=client.V1JSONSchemaProps(type="object", properties=properties)
        ),
    )
    names = client.V1CustomResourceDefinitionNames(kind="Gadget", plural="gadgets")
    spec = client.V1CustomResourceDefinitionSpec(group=GROUP, scope="Namespaced", names=names, versions=[version])
    metadata = client.V1ObjectMeta(name=f"gadgets.{GROUP}")
    definitions.create_custom_resource_definition(client.V1CustomResourceDefinition(metadata=metadata, spec=spec))
    events = watch.Watch()
    for event in events.stream(
        definitions.list_custom_resource_definition, field_selector=f"metadata.name=gadgets.{GROUP}", timeout_seconds=30
    ):
        conditions = event["object"].status.conditions or []
        if any(condition.type == "Established" and condition.status == "True" for condition in conditions):
            events.stop()
            return
    raise AssertionError("the definition was not established")


def typed_objects():
    for name in ["a", "b", "c"]:
        created = core.create_namespaced_config_map(NAMESPACE, config_map(name, labels={"part": "typed"}))
        assert created.metadata.creation_timestamp.tzinfo is not None
    assert failure(core.create_namespaced_config_map, NAMESPACE, config_map("a")) == (409, "AlreadyExists")
    names, token = [], None
    while token is None or token:
        page = core.list_namespaced_config_map(
            NAMESPACE, label_selector="part=typed", limit=2, **({"_continue": token} if token else {})
        )
        names += [item.metadata.name for item in page.items]
        token = page.metadata._continue or ""
    assert names == ["a", "b", "c"], names
    stale = core.read_namespaced_config_map("a", NAMESPACE)
    fresh = core.read_namespaced_config_map("a", NAMESPACE)
    fresh.data = {"k": "new"}
    core.replace_namespaced_config_map("a", NAMESPACE, fresh)
    assert failure(core.replace_namespaced_config_map, "a", NAMESPACE, stale) == (409, "Conflict")
    secret = client.V1Secret(metadata=client.V1ObjectMeta(generate_name="s-"), string_data={"k": "v"})
    assert core.create_namespaced_secret(NAMESPACE, secret).data == {"k": "dg=="}
    core.delete_namespaced_config_map("b", NAMESPACE, body=client.V1DeleteOptions(propagation_policy="Background"))
    assert failure(core.read_namespaced_config_map, "b", NAMESPACE) == (404, "NotFound")
    core.delete_collection_namespaced_config_map(NAMESPACE, label_selector="part=typed")
    assert core.list_namespaced_config_map(NAMESPACE, label_selector="part=typed").items == []


def patches():
    containers = [client.V1Container(name="web", image="web:1"), client.V1Container(name="side", image="side:1")]
    template = client.V1PodTemplateSpec(
        metadata=client.V1ObjectMeta(labels={"app": "web"}), spec=client.V1PodSpec(containers=containers)
    )
    spec = client.V1DeploymentSpec(
        paused=True, replicas=0, selector=client.V1LabelSelector(match_labels={"app": "web"}), template=template
    )
    deployment = client.V1Deployment(metadata=client.V1ObjectMeta(name="web"), spec=spec)
    apps.create_namespaced_deployment(NAMESPACE, deployment)

    def images(body, content_type=None):
        options = {"_content_type": content_type} if content_type else {}
        patched = apps.patch_namespaced_deployment("web", NAMESPACE, body, **options)
        return [container.image for container in patched.spec.template.spec.containers]

    changed = {"spec": {"template": {"spec": {"containers": [{"name": "web", "image": "web:2"}]}}}}
    assert images(changed, "application/strategic-merge-patch+json") == ["web:2", "side:1"]
    assert images(changed, "application/merge-patch+json") == ["web:2"]
    operations = [{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "web:3"}]
    assert images(operations) == ["web:3"]
    applied = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "applied"}, "data": {"a": "1"}}
    apply = {"_content_type": "application/apply-patch+yaml", "field_manager": "one"}
    core.patch_namespaced_config_map("applied", NAMESPACE, applied, **apply)
    applied["data"]["a"] = "2"
    apply["field_manager"] = "two"
    assert failure(core.patch_namespaced_config_map, "applied", NAMESPACE, applied, **apply) == (409, "Conflict")
    assert core.patch_namespaced_config_map("applied", NAMESPACE, applied, force=True, **apply).data == {"a": "2"}
    assert not apps.patch_namespaced_deployment_scale("web", NAMESPACE, {"spec": {"replicas": 0}}).spec.replicas
    apps.delete_namespaced_deployment("web", NAMESPACE, propagation_policy="Foreground")
    until("the deployment is gone", lambda: gone(apps.read_namespaced_deployment, "web", NAMESPACE))


def custom_objects():
    where = (GROUP, "v1", NAMESPACE, "gadgets")
    body = {"apiVersion": f"{GROUP}/v1", "kind": "Gadget", "metadata": {"name": "one"}, "spec": {"size": 1}}
    created = custom.create_namespaced_custom_object(*where, body)
    assert created["spec"] == {"size": 1, "color": "red"}
    invalid = {**body, "metadata": {"name": "two"}, "spec": {"size": -1}}
    assert failure(custom.create_namespaced_custom_object, *where, invalid) == (422, "Invalid")
    updated = custom.patch_namespaced_custom_object_status(*where, "one", {"status": {"phase": "Ready"}})
    assert (updated["status"], updated["metadata"]["generation"]) == ({"phase": "Ready"}, 1)
    updated["spec"]["size"] = 2
    assert custom.replace_namespaced_custom_object(*where, "one", updated)["metadata"]["generation"] == 2
    assert len(custom.list_namespaced_custom_object(*where)["items"]) == 1
    custom.delete_namespaced_custom_object(*where, "one")
    assert failure(custom.get_namespaced_custom_object, *where, "one") == (404, "NotFound")


def watched():
    at = core.list_namespaced_config_map(NAMESPACE).metadata.resource_version
    core.create_namespaced_config_map(NAMESPACE, config_map("watched", labels={"part": "watch"}))
    core.patch_namespaced_config_map("watched", NAMESPACE, {"data": {"a": "b"}})
    core.delete_namespaced_config_map("watched", NAMESPACE)
    seen, events = [], watch.Watch()
    options = {"label_selector": "part=watch", "resource_version": at, "timeout_seconds": 30}
    for event in events.stream(core.list_namespaced_config_map, NAMESPACE, **options):
        seen.append((event["type"], event["object"].metadata.name))
        if len(seen) == 3:
            events.stop()
    assert seen == [(kind, "watched") for kind in ("ADDED", "MODIFIED", "DELETED")], seen
    ended = list(watch.Watch().stream(core.list_namespaced_config_map, NAMESPACE, timeout_seconds=1))
    assert {event["type"] for event in ended} == {"ADDED"}


def dynamic_client():
    objects = dynamic.DynamicClient(client.ApiClient())
    gadgets = objects.resources.get(api_version=f"{GROUP}/v1", kind="Gadget")
    assert (gadgets.name, gadgets.namespaced) == ("gadgets", True)
    body = {"apiVersion": f"{GROUP}/v1", "kind": "Gadget", "metadata": {"name": "dynamic"}, "spec": {"size": 1}}
    gadgets.create(body=body, namespace=NAMESPACE)
    merged = gadgets.patch(
        name="dynamic", namespace=NAMESPACE, body={"spec": {"size": 4}}, content_type="application/merge-patch+json"
    )
    assert merged.spec.size == 4
    body["spec"]["color"] = "blue"
    applied = gadgets.server_side_apply(
        body=body, namespace=NAMESPACE, field_manager="python", force_conflicts=True
    )
    assert (applied.spec.size, applied.spec.color) == (1, "blue")
    for event in gadgets.watch(namespace=NAMESPACE, timeout=10):
        assert (event["type"], event["object"].metadata.name) == ("ADDED", "dynamic")
        break
    gadgets.delete(name="dynamic", namespace=NAMESPACE)
    assert gadgets.get(namespace=NAMESPACE).items == []
    assert len(objects.resources.search(kind="ConfigMap")) > 0


def objects_from_yaml():
    text = """
apiVersion: v1
kind: ConfigMap
metadata: { name: from-yaml }
---
apiVersion: v1
kind: Service
metadata: { name: from-yaml }
spec: { ports: [{ port: 80 }] }
"""
    utils.create_from_yaml(client.ApiClient(), yaml_objects=list(yaml.safe_load_all(text)), namespace=NAMESPACE)
    service = core.read_namespaced_service("from-yaml", NAMESPACE)
    assert (service.spec.type, service.spec.ports[0].protocol) == ("ClusterIP", "TCP")


def access():
    account = client.V1ServiceAccount(metadata=client.V1ObjectMeta(name="robot"))
    core.create_namespaced_service_account(NAMESPACE, account)
    request = client.AuthenticationV1TokenRequest(spec=client.V1TokenRequestSpec(audiences=[], expiration_seconds=600))
    token = core.create_namespaced_service_account_token("robot", NAMESPACE, request).status.token
    admin = client.Configuration.get_default_copy()
    robot = client.Configuration()
    robot.host, robot.ssl_ca_cert = admin.host, admin.ssl_ca_cert
    robot.api_key = {"authorization": f"Bearer {token}"}
    as_robot = client.ApiClient(robot)
    who = client.AuthenticationV1Api(as_robot).create_self_subject_review({})
    assert who.status.user_info.username == f"system:serviceaccount:{NAMESPACE}:robot"
    assert failure(client.CoreV1Api(as_robot).list_namespaced_secret, NAMESPACE) == (403, "Forbidden")
    attributes = client.V1ResourceAttributes(verb="list", resource="secrets", namespace=NAMESPACE)
    review = client.V1SelfSubjectAccessReview(
        spec=client.V1SelfSubjectAccessReviewSpec(resource_attributes=attributes)
    )
    assert client.AuthorizationV1Api().create_self_subject_access_review(review).status.allowed
    assert not client.AuthorizationV1Api(as_robot).create_self_subject_access_review(review).status.allowed
    assert int(client.VersionApi().get_code().major) == 1


def clean_up():
    definitions.delete_custom_resource_definition(f"gadgets.{GROUP}")
    core.delete_namespace(NAMESPACE)
    until("the namespace is gone", lambda: gone(core.read_namespace, NAMESPACE))


for title, step in {
    "definition established": define,
    "typed objects": typed_objects,
    "patches of every kind": patches,
    "custom objects": custom_objects,
    "watch": watched,
    "dynamic client": dynamic_client,
    "objects from YAML": objects_from_yaml,
    "access reviews and tokens": access,
    "definition and namespace deleted": clean_up,
}.items():
    step()
    print(title, flush=True)
