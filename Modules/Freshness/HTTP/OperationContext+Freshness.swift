public import OperationCore

extension OperationContext {
  /// How long the value is fresh that the run returns next. A body sets it, once it has a response.
  ///
  /// ```swift
  /// let (data, response) = try await http.get(url)
  /// context.freshness = OperationHTTPFreshness(headerFields: response.headerFields)
  /// ```
  ///
  /// It counts if the attempt returns or yields a value after that. The setter needs the modifier
  /// `honoringFreshness(otherwise:jitter:using:)`, and reports where it is missing. In the
  /// context of an event with a value, it is what the run has said about that value.
  public var freshness: OperationHTTPFreshness? {
    get { self.freshnessBox?.freshness ?? self.handedFreshness?.freshness }
    nonmutating set {
      if let box = self.freshnessBox { box.freshness = newValue } else { Self.reportIgnoredFreshness() }
    }
  }

  /// What a request sends to ask whether the value of the store is still valid; nil if there is nothing to ask with.
  ///
  /// They come from the response with that value. If the server answers that it is (304), return
  /// `revalidatedValue(as:)`.
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

  private static func reportIgnoredFreshness() {
    OperationWarning(
      code: .freshnessIgnored,
      message: """
        `context.freshness` was set in a run whose operation does not honor it, so it has no effect. Add \
        `.honoringFreshness()` to the operation, next to it.
        """
    ).report()
  }
}

extension OperationWarning.Code {
  /// A run has set the freshness of its value, and its operation does not honor it.
  public static let freshnessIgnored = Self(description: "freshnessIgnored")
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
    if let handed = self.entryOfOutcome(HandedFreshnessKey.self) { return handed }
    let handed = self[HandedFreshnessKey.self]
    return handed?.run == self.operationRunningTaskIdentifier ? handed : nil
  }

  var yieldedFreshness: HandedFreshness? {
    get { self[HandedFreshnessKey.self] }
    set { self[HandedFreshnessKey.self] = newValue }
  }

  func handOver(_ handed: HandedFreshness) {
    self.addToOutcome(handed, for: HandedFreshnessKey.self)
  }

  func removeHandedFreshness() {
    self.removeFromOutcome(HandedFreshnessKey.self)
  }

  private enum FreshnessBoxKey: Key {
    static let defaultValue: FreshnessBox? = nil
  }

  private enum HandedFreshnessKey: Key {
    static let defaultValue: HandedFreshness? = nil
  }
}
