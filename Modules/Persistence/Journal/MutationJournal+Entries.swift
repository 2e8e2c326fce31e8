internal import FoundationEssentials
public import OperationCore

extension MutationJournal {
  /// The calls that were accepted and have not ended, in their order. A call that is being stored is not accepted yet.
  ///
  /// The calls of earlier starts of the program are included once the journal has read them: at once with a storage
  /// that does not suspend, and otherwise when ``resume()`` has begun to make them.
  ///
  /// - Complexity: O(*n* log *n*) in their number.
  public var entries: [JournalEntry] {
    let items = self.state.withLock { $0.items.filter(\.value.isStored) }
    return items.sorted { $0.key < $1.key }.map { JournalEntry($0.value) }
  }

  /// Calls `onChange` with the current entries, and whenever they have changed.
  ///
  /// - Parameter onChange: Called in order, with no lock held. It must not take long, because calls wait for it.
  /// - Returns: The subscription, which ends when it is cancelled or released.
  public func subscribe(onChange: @escaping @Sendable ([JournalEntry]) -> Void) -> OperationSubscription {
    self.changes.subscribe { [weak self] in
      if let self { onChange(self.entries) }
    }
  }
}

extension JournalEntry {
  init(_ item: JournalState.Item) {
    let record = item.record
    let status: Status
    switch item.activity {
    case _ where record == nil: status = .unreadable
    case _ where record?.isSetAside == true: status = .setAside
    case .running: status = .running
    case .none, .claimed, .waiting: status = .waiting
    }
    self.init(
      id: record?.id ?? item.storageKey,
      name: record?.name ?? "",
      scope: record?.scope,
      acceptedAt: record.map { Date(timeIntervalSinceReferenceDate: $0.acceptedAt) },
      attempts: record?.attempts ?? 0,
      status: status,
      arguments: record.map { Array($0.arguments.utf8) } ?? [],
      lastFailure: item.lastFailure
    )
  }
}
