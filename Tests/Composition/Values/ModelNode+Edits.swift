import Operation
import OperationPersistence
import TestFixtures

extension ModelNode {
  /// Makes an edit of an item, which is shown at once, and which the service accepts or refuses.
  func makeEdit(_ edit: Int, of number: Int) async throws {
    if self.journalsEdits {
      try await self.client.store(for: self.journaledEdit(number)).mutate(with: edit)
    } else {
      try await self.client.store(for: self.edit(number)).mutate(with: edit)
    }
  }

  /// Makes the edits again that earlier starts, and other processes that have ended, have left.
  func addJournal(startedAs identity: UInt64) {
    let keys = Counter()
    let journal = MutationJournal(
      storage: self.storage,
      resumes: .when(.always(true)),
      attemptsBeforeDeadLetter: 1_000,
      makeKey: { "\(identity)-\(keys.increment())" }
    )
    self.client.journal = journal
    for item in self.items where !item.isList {
      journal.register(self.journaledEdit(item.number), as: "edit-\(item.number)")
    }
  }

  private func sending(_ number: Int) -> some MutationRequest<Int, Void, any Error> {
    MutationOperation<Int, Void, any Error>("edit", number) { [service, storage, node = self.number] edit, context in
      // A process that has ended sends nothing.
      if storage.isKilled { throw CancellationError() }
      service.beginSending(edit, by: node)
      try await context.operationDeadlines.sleep(for: .milliseconds(300))
      if storage.isKilled { throw CancellationError() }
      if service.isFailing(number) { throw Refused() }
      service.confirm(edit)
    }
  }

  private func edit(_ number: Int) -> some MutationRequest<Int, Void, any Error> {
    let path = self.items[number].path
    return self.sending(number)
      .optimistic(on: { _ in path }, of: ReadingState.self) { reading, edit in reading?.edits.append(edit) }
      .invalidates(matching: path)
  }

  private func journaledEdit(_ number: Int) -> some MutationRequest<Int, Void, any Error> {
    let path = self.items[number].path
    return self.sending(number).scope("edits of \(number)")
      .journaled(as: "edit-\(number)", failsForGood: .where { $0 is Refused })
      .optimistic(on: { _ in path }, of: ReadingState.self) { reading, edit in reading?.edits.append(edit) }
      .invalidates(matching: path)
  }
}
