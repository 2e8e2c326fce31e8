public import OperationCore

extension OperationClient {
  /// Marks the stores that show a value with one of these tags as stale, and reruns those with subscribers.
  ///
  /// It does what `invalidate(matching:)` does, for other stores: they are stale whatever their staleness rules say, and
  /// no call made afterwards receives the result of a run that began before. It also concerns values that arrive later: one
  /// with such a tag is stale if its run has begun before this call, or if it is restored or handed over from before.
  ///
  /// ```swift
  /// client.invalidate(tagged: .entity("post", post.id))                  // Continues immediately.
  /// await client.invalidate(tagged: .entity("post", post.id)).settled()  // Waits for the reruns.
  /// ```
  ///
  /// - Parameters:
  ///   - tag: A tag.
  ///   - more: Further tags.
  ///   - reruns: Which of the stores run again.
  ///   - isolation: The actor of the caller, on which the reruns do not begin.
  /// - Returns: A value whose `settled()` waits for the reruns.
  /// - Complexity: O(*n* log *n*) in the number of stores with these tags.
  @discardableResult
  public func invalidate(
    tagged tag: OperationTag,
    _ more: OperationTag...,
    rerunning reruns: OperationReruns = .subscribed,
    isolation: (any Actor)? = #isolation
  ) -> OperationInvalidation {
    self.invalidate(tagged: [tag] + more, rerunning: reruns, isolation: isolation)
  }

  /// Marks the stores that show a value with one of these tags as stale, and reruns those with subscribers.
  ///
  /// - Parameters:
  ///   - tags: The tags.
  ///   - reruns: Which of the stores run again.
  ///   - isolation: The actor of the caller, on which the reruns do not begin.
  /// - Returns: A value whose `settled()` waits for the reruns.
  /// - Complexity: O(*n* log *n*) in the number of stores with these tags.
  @discardableResult
  public func invalidate(
    tagged tags: [OperationTag],
    rerunning reruns: OperationReruns = .subscribed,
    isolation: (any Actor)? = #isolation
  ) -> OperationInvalidation {
    let relays = self.noteInvalidation(of: tags)
    return Self.invalidate(
      self.storesInOrder(tagged: tags),
      subject: { tags.explanation },
      rerunning: reruns,
      isolation: isolation
    )
    .passedOn(by: relays)
  }

  /// Looks up the stores that show a value with one of these tags.
  ///
  /// - Parameters:
  ///   - tag: A tag.
  ///   - more: Further tags.
  /// - Returns: The stores that the client has at the time of the call.
  /// - Complexity: O(*n* log *n*) in the number of stores with these tags.
  public func stores(
    tagged tag: OperationTag,
    _ more: OperationTag...
  ) -> OperationPathableCollection<OpaqueOperationStore> {
    self.stores(tagged: [tag] + more)
  }

  /// Looks up the stores that show a value with one of these tags.
  ///
  /// - Parameter tags: The tags.
  /// - Returns: The stores that the client has at the time of the call.
  /// - Complexity: O(*n* log *n*) in the number of stores with these tags.
  public func stores(tagged tags: [OperationTag]) -> OperationPathableCollection<OpaqueOperationStore> {
    OperationPathableCollection(self.storesInOrder(tagged: tags))
  }

  /// The stores with one of these tags, each once, in the order in which they were made.
  func storesInOrder(tagged tags: [OperationTag]) -> [OpaqueOperationStore] {
    guard let index = self.attachment(of: TagIndexOwner.self)?.index else { return [] }
    return index.stores(tagged: tags).compactMap { $0.reference.store(in: self) }
  }

  /// The index of the stores by their tags, which is made for the first tagged store.
  var tagIndex: TagIndex { self.attachment { TagIndexOwner(self.invalidations) }.index }
}

/// Keeps the index of a client, and empties it when the client is released: the index and its stores hold each other.
final class TagIndexOwner: Sendable {
  let index: TagIndex

  init(_ invalidations: InvalidationLog) {
    self.index = TagIndex(invalidations)
  }

  deinit {
    self.index.close()
  }
}

extension OperationClient {
  /// What the index of tags has, for tests and benchmarks: the numbers of tags, of members with tags, and of stores whose
  /// tags are yet to be computed.
  package var tagCounts: (tags: Int, memberships: Int, unsettled: Int) {
    self.attachment(of: TagIndexOwner.self)?.index.counts ?? (0, 0, 0)
  }
}
