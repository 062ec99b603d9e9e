//! An operator's life in kube-rs: a definition, both kinds of watch, a reflector, apply, the finalizer helper, and a
//! controller that owns children. Prints one line for each step that it has asserted.
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures::{StreamExt, TryStreamExt, pin_mut};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{
    Api, ApiResource, DeleteParams, DynamicObject, GroupVersionKind, ListParams, Patch, PatchParams, PostParams,
    PropagationPolicy, WatchEvent, WatchParams,
};
use kube::core::PartialObjectMeta;
use kube::runtime::controller::{Action, Controller};
use kube::runtime::finalizer::{Event as Finalizer, finalizer};
use kube::runtime::wait::{await_condition, conditions};
use kube::runtime::{WatchStreamExt, reflector, reflector::ObjectRef, watcher};
use kube::{Client, Discovery, Resource, ResourceExt};
use serde_json::json;

type Failure = Box<dyn std::error::Error + Send + Sync>;

const NAMESPACE: &str = "kube-rs";
const FINALIZER: &str = "clients.example.com/cleanup";

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let client = Client::try_default().await?;
    let namespaces: Api<Namespace> = Api::all(client.clone());
    namespaces.create(&PostParams::default(), &from(json!({ "metadata": { "name": NAMESPACE } }))?).await?;

    let kind = define(&client).await?;
    built_in_kinds(&client).await?;
    raw_watch(&client).await?;
    watchers(&client, &kind).await?;
    reflected(&client, &kind).await?;
    applied(&client, &kind).await?;
    controlled(&client, &kind).await?;

    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    let gone = definitions.delete("gadgets.clients.example.com", &DeleteParams::default()).await?;
    if let Some(definition) = gone.left() {
        let uid = definition.uid().expect("a uid");
        await_condition(definitions, "gadgets.clients.example.com", conditions::is_deleted(&uid)).await?;
    }
    namespaces.delete(NAMESPACE, &DeleteParams::default()).await?;
    done("definition and namespace deleted")
}

/// Creates the definition, waits until it is established, and finds the kind by discovery.
async fn define(client: &Client) -> Result<ApiResource, Failure> {
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": "gadgets.clients.example.com" },
        "spec": {
            "group": "clients.example.com",
            "scope": "Namespaced",
            "names": { "kind": "Gadget", "plural": "gadgets", "singular": "gadget" },
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "subresources": { "status": {}, "scale": {
                    "specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas" } },
                "schema": { "openAPIV3Schema": { "type": "object", "properties": {
                    "spec": { "type": "object", "properties": {
                        "size": { "type": "integer", "minimum": 0 },
                        "replicas": { "type": "integer", "default": 1 } } },
                    "status": { "type": "object", "properties": {
                        "phase": { "type": "string" }, "replicas": { "type": "integer" } } } } } }
            }]
        }
    });
    definitions
        .patch("gadgets.clients.example.com", &PatchParams::apply("kube-rs"), &Patch::Apply(&definition))
        .await?;
    await_condition(definitions, "gadgets.clients.example.com", conditions::is_crd_established()).await?;
    let found = Discovery::new(client.clone()).run_aggregated().await?;
    let (kind, capabilities) = found
        .resolve_gvk(&GroupVersionKind::gvk("clients.example.com", "v1", "Gadget"))
        .expect("the kind is discovered");
    assert_eq!(kind.plural, "gadgets");
    assert!(capabilities.subresources.iter().any(|(resource, _)| resource.plural == "status"));
    let legacy = Discovery::new(client.clone()).run().await?;
    assert!(legacy.resolve_gvk(&GroupVersionKind::gvk("clients.example.com", "v1", "Gadget")).is_some());
    done("definition established and discovered")?;
    Ok(kind)
}

/// Typed objects: create, get, list in pages, replace with its conflict, the patches, delete and deletecollection.
async fn built_in_kinds(client: &Client) -> Result<(), Failure> {
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), NAMESPACE);
    for n in 0..5 {
        let map = from(
            json!({ "metadata": { "name": format!("m{n}"), "labels": { "part": "built-in" } }, "data": { "n": n.to_string() } }),
        )?;
        maps.create(&PostParams::default(), &map).await?;
    }
    let stale = maps.get("m0").await?;
    let mut changed = stale.clone();
    changed.data.get_or_insert_default().insert("n".into(), "changed".into());
    maps.replace("m0", &PostParams::default(), &changed).await?;
    let conflict = maps.replace("m0", &PostParams::default(), &stale).await.expect_err("a stale replace");
    assert!(
        matches!(&conflict, kube::Error::Api(status) if status.code == 409 && status.reason == "Conflict"),
        "{conflict:?}"
    );

    let mut page = ListParams::default().labels("part=built-in").limit(2);
    let mut names = Vec::new();
    loop {
        let list = maps.list(&page).await?;
        names.extend(list.items.iter().map(ResourceExt::name_any));
        match list.metadata.continue_.filter(|token| !token.is_empty()) {
            Some(token) => page = page.continue_token(&token),
            None => break,
        }
    }
    assert_eq!(names, ["m0", "m1", "m2", "m3", "m4"]);

    let merged =
        maps.patch("m1", &PatchParams::default(), &Patch::Merge(json!({ "data": { "n": null, "a": "b" } }))).await?;
    assert_eq!(merged.data.unwrap().into_iter().collect::<Vec<_>>(), [("a".to_string(), "b".to_string())]);
    let strategic = Patch::Strategic(json!({ "metadata": { "finalizers": ["clients.example.com/a"] } }));
    assert_eq!(maps.patch("m1", &PatchParams::default(), &strategic).await?.finalizers(), ["clients.example.com/a"]);
    let metadata = maps
        .patch_metadata("m1", &PatchParams::default(), &Patch::Merge(json!({ "metadata": { "finalizers": null } })))
        .await?;
    assert!(metadata.finalizers().is_empty());
    assert_eq!(maps.list_metadata(&ListParams::default().labels("part=built-in")).await?.items.len(), 5);

    let secrets: Api<Secret> = Api::namespaced(client.clone(), NAMESPACE);
    let secret = secrets
        .create(
            &PostParams::default(),
            &from(json!({ "metadata": { "generateName": "s-" }, "stringData": { "k": "v" } }))?,
        )
        .await?;
    assert_eq!(secret.data.as_ref().unwrap()["k"].0, b"v");
    assert!(secret.name_any().starts_with("s-"));

    let missing = maps.get_opt("absent").await?;
    assert!(missing.is_none());
    let dry = DeleteParams { dry_run: true, ..DeleteParams::default() };
    maps.delete("m2", &dry).await?;
    assert!(maps.get_opt("m2").await?.is_some());
    maps.delete_collection(&DeleteParams::default(), &ListParams::default().labels("part=built-in")).await?;
    assert!(maps.list(&ListParams::default().labels("part=built-in")).await?.items.is_empty());
    done("built-in kinds created, listed, patched, replaced, deleted")
}

/// The bare watch call, without the runtime's machinery.
async fn raw_watch(client: &Client) -> Result<(), Failure> {
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), NAMESPACE);
    let at = maps.list(&ListParams::default()).await?.metadata.resource_version.expect("a version");
    let events = maps.watch(&WatchParams::default().labels("part=raw").timeout(20), &at).await?.boxed();
    maps.create(&PostParams::default(), &from(json!({ "metadata": { "name": "raw", "labels": { "part": "raw" } } }))?)
        .await?;
    maps.patch("raw", &PatchParams::default(), &Patch::Merge(json!({ "data": { "a": "b" } }))).await?;
    maps.patch("raw", &PatchParams::default(), &Patch::Merge(json!({ "metadata": { "labels": { "part": "other" } } })))
        .await?;
    maps.delete("raw", &DeleteParams::default()).await?;
    let seen: Vec<&str> = events
        .try_filter_map(|event| async move {
            Ok(match event {
                WatchEvent::Added(_) => Some("ADDED"),
                WatchEvent::Modified(_) => Some("MODIFIED"),
                WatchEvent::Deleted(_) => Some("DELETED"),
                WatchEvent::Bookmark(_) => None,
                WatchEvent::Error(status) => return Err(kube::Error::Api(status)),
            })
        })
        .take(3)
        .try_collect()
        .await?;
    assert_eq!(seen, ["ADDED", "MODIFIED", "DELETED"]);
    done("watch with a selector")
}

/// Both initial lists, streamed and paged, end in the same state, and both go on with live events.
async fn watchers(client: &Client, kind: &ApiResource) -> Result<(), Failure> {
    let gadgets: Api<DynamicObject> = Api::namespaced_with(client.clone(), NAMESPACE, kind);
    for n in 0..7 {
        gadgets.create(&PostParams::default(), &gadget(kind, &format!("w{n}"), n)).await?;
    }
    let configurations = [
        ("streamed", watcher::Config::default().streaming_lists()),
        ("paged", watcher::Config::default().page_size(3)),
    ];
    for (name, configuration) in configurations {
        let stream = watcher(gadgets.clone(), configuration);
        pin_mut!(stream);
        let mut names = BTreeSet::new();
        while let Some(event) = stream.try_next().await? {
            match event {
                watcher::Event::Init => names.clear(),
                watcher::Event::InitApply(object) => {
                    names.insert(object.name_any());
                }
                watcher::Event::InitDone => break,
                other => panic!("{name}: {other:?} before the initial list ended"),
            }
        }
        assert_eq!(names.len(), 7, "{name}");
        gadgets.create(&PostParams::default(), &gadget(kind, "live", 1)).await?;
        assert!(matches!(stream.try_next().await?, Some(watcher::Event::Apply(object)) if object.name_any() == "live"));
        gadgets.delete("live", &DeleteParams::default()).await?;
        assert!(
            matches!(stream.try_next().await?, Some(watcher::Event::Delete(object)) if object.name_any() == "live")
        );
    }
    let of_metadata: Api<PartialObjectMeta<ConfigMap>> = Api::namespaced(client.clone(), NAMESPACE);
    let metadata = watcher(of_metadata, watcher::Config::default().streaming_lists()).applied_objects();
    pin_mut!(metadata);
    let first = metadata.try_next().await?.expect("the metadata of an object");
    assert_eq!(first.name_any(), "kube-root-ca.crt");
    gadgets.delete_collection(&DeleteParams::default(), &ListParams::default()).await?;
    done("watchers streamed, paged and of metadata")
}

/// A reflector's store follows the server.
async fn reflected(client: &Client, kind: &ApiResource) -> Result<(), Failure> {
    let gadgets: Api<DynamicObject> = Api::namespaced_with(client.clone(), NAMESPACE, kind);
    let writer = reflector::store::Writer::<DynamicObject>::new(kind.clone());
    let store = writer.as_reader();
    let stream = reflector(writer, watcher(gadgets.clone(), watcher::Config::default().streaming_lists()))
        .default_backoff()
        .applied_objects();
    let task = tokio::spawn(stream.for_each(|_| async {}));
    store.wait_until_ready().await?;
    gadgets.create(&PostParams::default(), &gadget(kind, "mirrored", 1)).await?;
    let key = ObjectRef::new_with("mirrored", kind.clone()).within(NAMESPACE);
    until("the store has the object", || async { store.get(&key).is_some() }).await;
    gadgets.patch("mirrored", &PatchParams::default(), &Patch::Merge(json!({ "spec": { "size": 2 } }))).await?;
    until("the store has the change", || async { store.get(&key).is_some_and(|it| it.data["spec"]["size"] == 2) })
        .await;
    gadgets.delete("mirrored", &DeleteParams::default()).await?;
    until("the store has let the object go", || async { store.is_empty() }).await;
    task.abort();
    done("reflector")
}

/// Server-side apply on the object, its status and its scale; conflicts and force; what validation refuses.
async fn applied(client: &Client, kind: &ApiResource) -> Result<(), Failure> {
    let gadgets: Api<DynamicObject> = Api::namespaced_with(client.clone(), NAMESPACE, kind);
    let size = |size: i64| {
        Patch::Apply(
            json!({ "apiVersion": "clients.example.com/v1", "kind": "Gadget", "metadata": { "name": "applied" }, "spec": { "size": size } }),
        )
    };
    let created = gadgets.patch("applied", &PatchParams::apply("one"), &size(1)).await?;
    assert_eq!(created.data["spec"], json!({ "size": 1, "replicas": 1 }));
    let again = gadgets.patch("applied", &PatchParams::apply("one"), &size(1)).await?;
    assert_eq!(again.resource_version(), created.resource_version());
    let conflict = gadgets.patch("applied", &PatchParams::apply("two"), &size(2)).await.expect_err("a conflict");
    assert!(
        matches!(&conflict, kube::Error::Api(status) if status.code == 409
        && status.message.contains("conflict with \"one\": .spec.size")),
        "{conflict:?}"
    );
    let forced = gadgets.patch("applied", &PatchParams::apply("two").force(), &size(2)).await?;
    assert_eq!(forced.data["spec"]["size"], 2);
    let status = json!({ "apiVersion": "clients.example.com/v1", "kind": "Gadget", "metadata": { "name": "applied" }, "status": { "phase": "Ready" } });
    let ready = gadgets.patch_status("applied", &PatchParams::apply("status"), &Patch::Apply(&status)).await?;
    assert_eq!(
        (&ready.data["status"]["phase"], ready.metadata.generation),
        (&json!("Ready"), forced.metadata.generation)
    );
    let scaled = gadgets
        .patch_scale("applied", &PatchParams::default(), &Patch::Merge(json!({ "spec": { "replicas": 4 } })))
        .await?;
    assert_eq!(scaled.spec.and_then(|it| it.replicas), Some(4));
    let refused = gadgets.patch("applied", &PatchParams::apply("two"), &size(-1)).await.expect_err("an invalid size");
    assert!(
        matches!(&refused, kube::Error::Api(status) if status.code == 422 && status.reason == "Invalid"),
        "{refused:?}"
    );
    gadgets
        .delete(
            "applied",
            &DeleteParams { propagation_policy: Some(PropagationPolicy::Foreground), ..Default::default() },
        )
        .await?;
    until("the object is gone", || async { matches!(gadgets.get_opt("applied").await, Ok(None)) }).await;
    done("apply, status and scale")
}

/// A controller with the finalizer helper and children that the garbage collector takes with their owner.
async fn controlled(client: &Client, kind: &ApiResource) -> Result<(), Failure> {
    let gadgets: Api<DynamicObject> = Api::namespaced_with(client.clone(), NAMESPACE, kind);
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), NAMESPACE);
    let context = Arc::new((client.clone(), kind.clone()));
    let controller = Controller::new_with(gadgets.clone(), watcher::Config::default(), kind.clone())
        .owns(maps.clone(), watcher::Config::default().streaming_lists())
        .run(reconcile, |_, _, _| Action::requeue(Duration::from_millis(50)), context);
    let task = tokio::spawn(controller.for_each(|_| async {}));

    gadgets.create(&PostParams::default(), &gadget(kind, "owner", 3)).await?;
    let phase = || async { gadgets.get("owner").await.is_ok_and(|it| it.data["status"]["phase"] == "Reconciled") };
    until("the status is written", phase).await;
    let child = maps.get("owner-child").await?;
    assert_eq!(child.data.unwrap()["size"], "3");
    assert_eq!(child.metadata.owner_references.unwrap()[0].kind, "Gadget");
    maps.delete("owner-child", &DeleteParams::default()).await?;
    until("the child is made again", || async { matches!(maps.get_opt("owner-child").await, Ok(Some(_))) }).await;

    let owner = gadgets.get("owner").await?;
    assert_eq!(owner.finalizers(), [FINALIZER]);
    gadgets.delete("owner", &DeleteParams::background()).await?;
    let uid = owner.uid().expect("a uid");
    await_condition(gadgets.clone(), "owner", conditions::is_deleted(&uid)).await?;
    until("the cleanup ran", || async { matches!(maps.get_opt("owner-cleaned").await, Ok(Some(_))) }).await;
    task.abort();
    until("the child is collected", || async { matches!(maps.get_opt("owner-child").await, Ok(None)) }).await;
    done("controller with finalizer and owned children")
}

async fn reconcile(object: Arc<DynamicObject>, context: Arc<(Client, ApiResource)>) -> Result<Action, Failed> {
    let (client, kind) = &*context;
    let gadgets: Api<DynamicObject> = Api::namespaced_with(client.clone(), NAMESPACE, kind);
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), NAMESPACE);
    let act = |event: Finalizer<DynamicObject>| async {
        match event {
            Finalizer::Apply(gadget) => {
                let name = format!("{}-child", gadget.name_any());
                let owner = gadget.controller_owner_ref(kind).expect("a name and a uid");
                let child = json!({
                    "apiVersion": "v1", "kind": "ConfigMap",
                    "metadata": { "name": name, "ownerReferences": [owner] },
                    "data": { "size": gadget.data["spec"]["size"].to_string() }
                });
                maps.patch(&name, &PatchParams::apply("gadgets").force(), &Patch::Apply(&child)).await?;
                let status = json!({ "status": { "phase": "Reconciled" } });
                gadgets.patch_status(&gadget.name_any(), &PatchParams::default(), &Patch::Merge(&status)).await?;
            }
            Finalizer::Cleanup(gadget) => {
                let trace = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": format!("{}-cleaned", gadget.name_any()) } });
                let name = format!("{}-cleaned", gadget.name_any());
                maps.patch(&name, &PatchParams::apply("gadgets"), &Patch::Apply(&trace)).await?;
            }
        }
        Ok::<_, kube::Error>(Action::await_change())
    };
    finalizer(&gadgets, FINALIZER, object, act).await.map_err(|error| Failed(error.to_string()))
}

#[derive(Debug)]
struct Failed(String);

impl std::fmt::Display for Failed {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for Failed {}

fn gadget(kind: &ApiResource, name: &str, size: i64) -> DynamicObject {
    DynamicObject::new(name, kind).within(NAMESPACE).data(json!({ "spec": { "size": size } }))
}

fn from<T: serde::de::DeserializeOwned>(value: serde_json::Value) -> serde_json::Result<T> {
    serde_json::from_value(value)
}

/// Asks again until `held`; panics with `what` after half a minute.
async fn until<F: Future<Output = bool>>(what: &str, held: impl Fn() -> F) {
    for _ in 0..600 {
        if held().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{what}: not within half a minute");
}

fn done(step: &str) -> Result<(), Failure> {
    println!("{step}");
    Ok(())
}
