internal import OperationCore
internal import OperationMutation
internal import Synchronization

/// A place in the order of the calls, which no call of the storage has yet.
struct JournalReservation: Sendable {
  let place: JournalState.Place
  /// The key of the call.
  let id: String
  /// The optimistic updates that are shown between the runs of the call; nil if it has none.
  let updates: KeptUpdates?
}

/// The place of a call in a journal, taken before the call comes to its modifier.
final class JournalPlace: CallPlace {
  let reservation: JournalReservation
  let request: JournalRequest
  let journal: MutationJournal
  let run: OperationTaskIdentifier?
  /// Whether the call uses the place, or has given it up.
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

  var isBehindCurrentTask: Bool { self.journal.isMakingCall(of: self.request.scope) }

  /// Returns whether the call may use the place; true only once.
  func use() -> Bool { !self.isLeft.exchange(true, ordering: .acquiringAndReleasing) }

  func giveUp() {
    guard self.use() else { return }
    let place = self.reservation.place
    self.journal.change { $0.remove(place) }
  }
}

extension OperationContext {
  /// The place in a journal that the run with this context has taken; nil if it has none.
  func journalPlace(in journal: MutationJournal, of name: String) -> JournalPlace? {
    guard let place = self.callPlace as? JournalPlace, place.run == self.operationRunningTaskIdentifier,
      place.journal === journal, place.request.name == name
    else { return nil }
    return place
  }
}
