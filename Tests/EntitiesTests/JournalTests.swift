import OperationCore
import OperationEntities
import OperationMutation
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

/// Updates of calls that wait in a journal, and are made again.
@Suite(.bounded, .warningsAreIssues) struct JournalTests {
  private let client = OperationClient()
  private let script = OperationScript<Post, any Error>()

  @Test(arguments: [true, false])
  func `The update of a call that waits in a journal is shown until the call has ended`(succeeds: Bool) async throws {
    let journal = MutationJournal(storage: InMemoryStorage())
    self.client.journal = journal
    let edit = MutationOperation<StoredEdit, Post, any Error>("edit") { [script] (_: StoredEdit, context) in
      try await script.run(in: context, with: OperationContinuation { _, _ in })
    }
    .journaled(as: "edit")
    .editsEntity(Post.self, id: { $0.id }, optimistically: { $0.title += $1.suffix }, result: { $0 })
    journal.register(edit, as: "edit")
    let feed = self.client.feed(initialValue: posts([7: "a"]))
    let store = self.client.store(for: edit)
    let call = Task.immediate { try await store.mutate(with: StoredEdit(id: 7, suffix: "!")) }
    _ = try await self.script.next()
    call.cancel()
    _ = await call.result
    expect(feed.currentValue?.first?.title, equals: "a!")
    let later = self.client.feed("later", initialValue: posts([7: "old"]))
    expect(later.currentValue?.first?.title, equals: "a!")
    if succeeds {
      self.script.enqueue(.value(Post(id: 7, title: "result")))
      await journal.resume().settled()
    } else {
      for entry in journal.entries { #expect(await journal.remove(entry.id)) }
    }
    let titles = [feed, later].map { $0.currentValue?.first?.title }
    expect(titles, equals: (succeeds ? ["result", "result"] : ["a", "a"]))
  }
}

private struct StoredEdit: Codable, Sendable {
  let id: Int
  let suffix: String
}
