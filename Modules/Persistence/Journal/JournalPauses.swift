internal import OperationCore

/// Takes back the attempt of a call that waits, and counts it again when the call goes on.
///
/// Otherwise a call that waits for the network would be put aside after some starts of the program, as if it had ended them.
final class JournalPauses: RunPauseObserver {
  private let ticket: JournalTicket
  /// Whether the attempt was taken back.
  private let isTakenBack = Locked(false)

  init(of ticket: JournalTicket) {
    self.ticket = ticket
  }

  nonisolated(nonsending) func runWillPause() async {
    // Of several pauses at once, the first takes the attempt back.
    let isFirst = self.isTakenBack.withLock { isTakenBack in
      defer { isTakenBack = true }
      return !isTakenBack
    }
    if isFirst { await self.count(-1) }
  }

  nonisolated(nonsending) func runGoesOn() async {
    let isFirst = self.isTakenBack.withLock { isTakenBack in
      defer { isTakenBack = false }
      return isTakenBack
    }
    if isFirst { await self.count(1) }
  }

  private nonisolated(nonsending) func count(_ change: Int) async {
    do {
      try await self.ticket.journal.noteAttempt(of: self.ticket, change)
    } catch {
      // The call is made all the same: it was accepted.
      OperationWarning.report(storageFailedTo: "count the attempts of the journal entry \(self.ticket.id)", error)
    }
  }
}
