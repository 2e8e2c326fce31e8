import Foundation
import Operation
import OperationPersistence
import OperationSQLite

/// The program: it shows the notes, adds some, and ends when all of them have been sent.
struct Editor {
  let database: String
  let address: URL

  func add(_ texts: [String]) async throws {
    let storage = try SQLiteStorage(path: self.database)
    let client = OperationClient()
    client.defaultContext.operationStorage = storage
    await client.restore()

    let query = NotesQuery(address: self.address).persisted(as: "notes")
    let addition = AddNote(address: self.address)
      .waits(until: .connected(to: ServerObserver(address: self.address)))
      .retry(limit: 100)
      .backoff(.constant(.milliseconds(100)))
      .scope("notes")
      .journaled(as: "add-note")
      .optimistic(on: ["notes"], of: NotesQuery.State.self) { notes, note in notes = (notes ?? []) + [note.text] }
    let journal = MutationJournal(storage: storage)
    client.journal = journal
    journal.register(addition, as: "add-note")

    let notes = client.store(for: query)
    let resumption = await journal.resume()
    let store = client.store(for: addition)
    let additions = texts.map { text in
      Task.immediate { try await store.mutate(with: AddNote.Arguments(text: text)) }
    }
    let subscription = journal.subscribe { entries in
      say("\(entries.count) not sent yet: \(notes.currentValue ?? [])")
    }
    await resumption.settled()
    for addition in additions { try await addition.value }
    try await notes.fetch()
    subscription.cancel()
    await client.persistence.flush()
    await storage.close()
    say("sent: \(notes.currentValue ?? [])")
  }
}

/// Writes a line at once: the program may be killed after it.
func say(_ text: String) {
  FileHandle.standardOutput.write(Data((text + "\n").utf8))
}
