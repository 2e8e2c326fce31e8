internal import OperationCore
internal import OperationFoundation
public import OperationMutation

extension MutationJournal {
  /// The calls of a mutation that are kept because of a conflict, for a screen that lets the user decide.
  ///
  /// ```swift
  /// for conflict in journal.conflicts(of: save, as: Note.self) {
  ///   show(mine: conflict.call.arguments, theirs: conflict.current)
  /// }
  /// ```
  ///
  /// Calls of earlier starts of the program are included once the journal has read them: see ``load()``. A call is left
  /// out if its arguments or the data of the server cannot be decoded, for example because a later version of the
  /// program has stored them. The entry of such a call stays, and ``retry(_:)`` asks the server again.
  ///
  /// - Parameters:
  ///   - mutation: The mutation with its `.journaled(as:)`.
  ///   - type: The type of the data of the server.
  /// - Returns: The conflicts, in the order in which the calls were accepted.
  /// - Complexity: O(*n*) in the number of entries.
  public func conflicts<Mutation: MutationRequest, Current: Codable & Sendable>(
    of mutation: Mutation,
    as type: Current.Type
  ) -> [JournalConflict<Mutation.Arguments, Current>] where Mutation.Arguments: Codable {
    guard let modifier = mutation.journaledModifier else { return [] }
    let names = Set([modifier.name] + modifier.aliases)
    let stored = mutation.storedArguments
    let records = self.state.withLock { state in
      state.items.filter { position, item in
        // A conflict that is being stored counts as open once it is stored.
        guard let record = item.record, item.activity.isNone, !item.isGone, record.status == .conflicted
        else { return false }
        return names.contains(record.name) || names.contains(state.view.storeName(of: record))
      }.sorted { $0.key < $1.key }.compactMap { $0.value.record }
    }
    return records.compactMap { record in
      guard let arguments = try? stored.decode(record), let bytes = record.storedCurrent?.bytes,
        let current = try? stored.coder.decode(Current.self, from: bytes)
      else { return nil }
      let call = ConflictedCall(
        id: record.id,
        arguments: arguments,
        baseVersion: record.base,
        acceptedAt: Date(timeIntervalSinceReferenceDate: record.acceptedAt),
        retryCount: record.revision ?? 0
      )
      return JournalConflict(call: call, current: current, stored: stored) { modifier.mayStore($0) }
    }
  }

  /// Ends a conflict as the user has decided.
  ///
  /// With ``ConflictResolution/retry(with:basedOn:)`` the call is made with the new arguments, at its position in its
  /// scope, and its optimistic update shows them. With ``ConflictResolution/discard`` the entry is removed. In both
  /// cases the calls that wait behind it are made. With ``ConflictResolution/ask`` nothing changes. This returns when
  /// the decision is stored and sending has begun.
  ///
  /// - Parameters:
  ///   - conflict: One of ``conflicts(of:as:)``.
  ///   - resolution: The decision.
  /// - Returns: Whether the conflict was still open.
  /// - Throws: The error of encoding the arguments; a ``JournalError`` if the mutation's `excluding:` keeps them from being stored.
  ///   The conflict is still open then.
  @discardableResult
  nonisolated(nonsending)
    public func resolve<Arguments, Current>(
      _ conflict: JournalConflict<Arguments, Current>,
      with resolution: ConflictResolution<Arguments>
    ) async throws -> Bool
  {
    let (call, stored) = (conflict.call, conflict.stored)
    guard let held = self.state.withLock({ $0.openConflict(call.id, call.retryCount) }) else { return false }
    switch resolution.decision {
    case .ask: return true
    case .discard:
      guard await self.removeConflict(call.id, revision: call.retryCount) else { return false }
    case .retry(let arguments, let base):
      guard conflict.mayStore(arguments) else { throw JournalError.excluded(call.id) }
      let revision = JournalRevision(
        arguments: try stored.encode(arguments),
        version: stored.version,
        base: base,
        number: call.retryCount + 1
      )
      guard await self.reopen(call.id, revision) else { return false }
    }
    let positions = self.change { $0.makeDue(behind: held) }
    self.showUpdates(of: positions)
    self.change(isImmediate: true) { $0.advanceAll(positions) }
    return true
  }
}

/// A call in conflict, and the scope that waits for it.
struct OpenConflict: Sendable {
  let position: JournalState.Position
  /// The scope with calls that wait for the decision; nil if none do.
  let scope: String?
}

extension JournalState {
  /// Finds a call in conflict; nil if the conflict has ended, or if another process makes the call.
  func openConflict(_ id: JournalEntry.ID, _ revision: Int) -> OpenConflict? {
    guard let position = self.positions[id], let item = self.items[position], let record = item.record, !item.isGone,
      item.activity.isNone, !item.isElsewhere, record.status == .conflicted, (record.revision ?? 0) == revision
    else { return nil }
    return OpenConflict(position: position, scope: record.holdsScope == true ? record.scope : nil)
  }

  /// After the end of a conflict, makes the call due if it still exists, and the calls that have waited for it.
  fileprivate mutating func makeDue(behind conflict: OpenConflict) -> [Position] {
    var positions = Set(conflict.scope.flatMap { self.scopes[$0]?.all } ?? [])
    positions.insert(conflict.position)
    let due = positions.filter { position in
      guard let item = self.items[position] else { return false }
      return item.isPending && item.activity.isNone && !item.isGone && !item.isDue && !item.isElsewhere
    }
    self.lastResumption += 1
    for position in due.sorted() { self.makeDue(position, in: self.lastResumption) }
    return due.sorted()
  }
}
