extension OperationStore: CustomStringConvertible, CustomReflectable {
  /// The path, the state and the number of subscribers in one line.
  public var description: String { self.runtime.summary }

  /// The path, the state and the number of subscribers, for `dump` and debuggers.
  public var customMirror: Mirror {
    let members: KeyValuePairs<String, Any> = [
      "path": self.path, "state": self.state, "subscriberCount": self.subscriberCount,
    ]
    return Mirror(self, children: members, displayStyle: .class)
  }
}

extension OpaqueOperationStore: CustomStringConvertible {
  /// The path, the state and the number of subscribers in one line.
  public var description: String { self.runtime.summary }
}

extension OperationClient: CustomStringConvertible {
  /// The number of stores, and the number of stores with runs, in one line.
  ///
  /// - Complexity: O(*n*) in the number of stores. See ``snapshot()`` for each store.
  public var description: String {
    let runtimes = self.storage.runtimes(matching: [])
    let stores = runtimes.count == 1 ? "1 store" : "\(runtimes.count) stores"
    return "OperationClient(\(stores), \(runtimes.count { $0.isLoading }) loading)"
  }
}

extension StoreRuntime: SubscriptionSource {
  /// The path, the state and the number of subscribers in one line.
  var summary: String {
    let (state, count) = self.withMachine { ($0.shownState, $0.subscribers.count) }
    return
      "OperationStore(\(ShownText.of(self.path)): \(state.typed.summary), \(count == 1 ? "1 subscriber" : "\(count) subscribers"))"
  }
}
