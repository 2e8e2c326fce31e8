internal import OperationCore

/// Subtracts the attempt of a call that waits from its count, and adds it again when the call continues.
///
/// Otherwise a call that waits for the network would be put aside after some starts of the program, as if each attempt
/// had ended the program.
final class JournalPauses: RunPauseObserver {
  private let ticket: JournalTicket
  /// Whether the attempt is subtracted.
  private let isSubtracted = Locked(false)

  init(of ticket: JournalTicket) {
    self.ticket = ticket
  }

  nonisolated(nonsending) func runWillPause() async {
    // Of several pauses at once, the first subtracts the attempt.
    let isFirst = self.isSubtracted.withLock { isSubtracted in
      defer { isSubtracted = true }
      return !isSubtracted
    }
    if isFirst { await self.count(-1) }
  }

  nonisolated(nonsending) func runWillResume() async {
    let isFirst = self.isSubtracted.withLock { isSubtracted in
      defer { isSubtracted = false }
      return isSubtracted
    }
    if isFirst { await self.count(1) }
  }

  private nonisolated(nonsending) func count(_ change: Int) async {
    do {
      try await self.ticket.journal.countAttempt(of: self.ticket, change)
    } catch {
      // The call was accepted, so it is made without the count.
      OperationWarning.report(storageFailedTo: "count the attempts of the journal entry \(self.ticket.id)", error)
    }
  }
}
