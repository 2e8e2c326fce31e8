public import OperationCore

extension MutationJournal {
  /// The calls that were accepted and have not ended, in their order. A call that is being stored is not accepted yet.
  ///
  /// The calls of earlier starts of the program are included once the journal has read them: at once if the storage
  /// does not suspend, and otherwise after ``load()``, ``resume()`` or the `restore()` of the client that has this
  /// journal.
  ///
  /// - Complexity: O(*n*) in the number of calls. ``subscribe(onChange:)`` passes the entries without a copy.
  public var entries: [JournalEntry] { Array(self.state.withLock { $0.shown }) }

  /// Calls `onChange` with the current entries, and whenever they have changed.
  ///
  /// - Parameter onChange: Called in order, with no lock held. It must not take long, because calls wait for it.
  /// - Returns: The subscription, which ends when it is cancelled or released.
  /// - Complexity: A change costs O(log *n*) in the number of entries, and what `onChange` does.
  public func subscribe(onChange: @escaping @Sendable (JournalEntries) -> Void) -> OperationSubscription {
    self.changes.subscribe { [weak self] in
      if let self { onChange(self.state.withLock { $0.shown }) }
    }
  }
}
