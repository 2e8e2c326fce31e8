extension OperationClient {
  /// The stores at paths that start with `path`.
  package func layerableStores(matching path: OperationPath) -> [LayerableStore] {
    self.storage.runtimes(matching: path).compactMap { $0.store.flatMap { LayerableStore($0) } }
  }

  /// Calls `onAdded` with each store that is added at a path that starts with `path`.
  package func watchLayerableStores(
    matching path: OperationPath,
    onAdded: @escaping @Sendable (LayerableStore) -> Void
  ) -> OperationSubscription {
    self.storage.watch(path) { change in
      for store in change.added.compactMap({ LayerableStore($0.store) }) { onAdded(store) }
    }
  }
}
