public import OperationCore

extension OperationContext {
  /// How long the value is fresh that the run returns next. A body sets it, once it has a response.
  ///
  /// ```swift
  /// let (data, response) = try await http.get(url)
  /// context.freshness = OperationHTTPFreshness(headerFields: response.headerFields)
  /// ```
  ///
  /// It counts if the run returns or yields a value after that, and has no effect in a run without a store. With other
  /// rules, a value is stale when any of them says so. Add `honoringFreshness(otherwise:jitter:using:)` next to the
  /// operation where a run makes several attempts: what one has said then does not count for the value of another.
  ///
  /// In the context of an event with a value, it is what the run has said about that value.
  public var freshness: OperationHTTPFreshness? {
    get {
      if let freshness = self.freshnessBox?.freshness ?? self.handedFreshness?.freshness { return freshness }
      guard let run = self.operationRunningTaskIdentifier else { return nil }
      let record = self.knownFreshnessRecord ?? self.runningOperationStore?.context.knownFreshnessRecord
      return record?.handed(by: run)?.freshness
    }
    nonmutating set {
      if let box = self.freshnessBox {
        box.freshness = newValue
      } else if let record = self.storeRecord() {
        let run = self.operationRunningTaskIdentifier
        let handed = HandedFreshness(freshness: newValue, date: self.date, run: run)
        // A run that has begun before the store had a record cannot add to its outcome.
        guard self.canAddToOutcome else { return record.hand(handed, isPart: self.mayRunInParts) }
        if self.mayRunInParts, let earlier = self.handedFreshness, earlier.isShorter(than: handed) { return }
        self.handOver(handed)
      }
    }
  }

  /// What a request sends to ask whether the value of the store is still valid; nil if there is nothing to ask with.
  ///
  /// They come from the response with that value, and need `honoringFreshness(otherwise:jitter:using:)`. If the server
  /// answers that the value is valid (304), return `revalidatedValue(as:)`.
  public var validators: OperationHTTPValidators? { self.freshnessBox?.asked?.freshness.validators }

  /// The value of the store that the server was asked about, for a body to return after the answer that it is valid.
  ///
  /// ```swift
  /// let (data, response) = try await http.get(url, headerFields: context.validators?.headerFields ?? [])
  /// context.freshness = OperationHTTPFreshness(headerFields: response.headerFields)
  /// if response.status == 304, let post = context.revalidatedValue(as: Post.self) { return post }
  /// ```
  ///
  /// The value stays and gets a new date, and fields that this response does not have stay as they were. It does not
  /// count as an update of the value, unless the value was set in the meantime.
  ///
  /// - Parameter type: The type of the value.
  /// - Returns: The value to which `validators` belong; nil if the body has not read them, or if there were none.
  public func revalidatedValue<Value>(as type: Value.Type = Value.self) -> Value? {
    self.freshnessBox?.revalidated(as: type)
  }
}

// MARK: - Entries

extension OperationContext {
  /// The box of the attempt with this context. The runs of other operations that receive the context have none.
  var freshnessBox: FreshnessBox? {
    get { self[FreshnessBoxKey.self].flatMap { $0.run == self.operationRunningTaskIdentifier ? $0 : nil } }
    set { self[FreshnessBoxKey.self] = newValue }
  }

  /// What a run has said about the value of an outcome or a yield with this context.
  var handedFreshness: HandedFreshness? {
    // A runner that received the context adds to the same outcome.
    let handed = self.entryOfOutcome(HandedFreshnessKey.self) ?? self[HandedFreshnessKey.self]
    return handed?.run == self.operationRunningTaskIdentifier ? handed : nil
  }

  var yieldedFreshness: HandedFreshness? {
    get { self[HandedFreshnessKey.self] }
    set { self[HandedFreshnessKey.self] = newValue }
  }

  func handOver(_ handed: HandedFreshness) {
    self.addToOutcome(handed, for: HandedFreshnessKey.self)
    self.noteStorage(by: handed)
  }

  /// Keeps a value in its store that the server forbids to keep elsewhere.
  func noteStorage(by handed: HandedFreshness) {
    let forbidsStorage = handed.freshness?.forbidsStorage ?? false
    // A part that may be stored does not permit the others.
    guard forbidsStorage || !self.mayRunInParts, self.outcomeStamp.staysInStore != forbidsStorage else { return }
    self.editOutcomeStamp { $0.staysInStore = forbidsStorage }
  }

  func removeHandedFreshness() {
    self.removeFromOutcome(HandedFreshnessKey.self)
    if self.outcomeStamp.staysInStore { self.editOutcomeStamp { $0.staysInStore = false } }
  }

  private enum FreshnessBoxKey: Key {
    static let defaultValue: FreshnessBox? = nil
  }

  private enum HandedFreshnessKey: Key {
    static let defaultValue: HandedFreshness? = nil
  }
}
