internal import OperationCore
internal import OperationMutation
internal import Synchronization

/// A position in the order of the calls, which no call of the storage has yet.
struct JournalReservation: Sendable {
  let position: JournalState.Position
  /// The key of the call.
  let id: String
  /// The optimistic updates that are shown between the runs of the call; nil if it has none.
  let updates: KeptUpdates?
}

/// The position of a call in a journal, taken before the call comes to its modifier.
final class JournalPosition: CallPosition {
  let reservation: JournalReservation
  let request: JournalRequest
  let journal: MutationJournal
  let run: OperationTaskIdentifier?
  /// Whether the call uses the position, or has given it up.
  private let isLeft = Atomic(false)

  init(
    _ reservation: JournalReservation,
    _ request: JournalRequest,
    in journal: MutationJournal,
    of run: OperationTaskIdentifier?
  ) {
    self.reservation = reservation
    self.request = request
    self.journal = journal
    self.run = run
  }

  /// Returns whether the call may use the position; true only once.
  func use() -> Bool { !self.isLeft.exchange(true, ordering: .acquiringAndReleasing) }

  func giveUp() {
    guard self.use() else { return }
    let position = self.reservation.position
    self.journal.change { $0.remove(position) }
  }
}

extension OperationContext {
  /// The position in a journal that the run with this context has taken; nil if it has none.
  func journalPosition(in journal: MutationJournal, of name: String) -> JournalPosition? {
    guard let position = self.callPosition as? JournalPosition, position.run == self.operationRunningTaskIdentifier,
      position.journal === journal, position.request.name == name
    else { return nil }
    return position
  }
}
