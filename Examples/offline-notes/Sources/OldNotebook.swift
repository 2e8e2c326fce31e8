import Foundation
import Operation
import OperationPersistence

// The first version of the program, as it was before the update. What it has stored is read by the second.

/// A note without its number.
struct OldNote: Codable, Sendable {
  var text: String
  var version: Int
}

/// What a change said, with another name for the number of the note.
struct OldChange: NoteChange {
  let note: Int
  let text: String

  var id: Int { self.note }
}

enum OldNotebook {
  /// Fetches the notes and, if there is a change, makes it.
  static func run(database: String, address: URL, change: OldChange?) async throws {
    let storage = try await openStorage(database, version: 1)
    let client = OperationClient()
    client.defaultContext.operationStorage = storage
    await client.restore()
    let edit = ChangeNote<OldChange>(address: address)
      .waits(until: .connected(to: ServerObserver(address: address)))
      .scope("notes")
      .journaled(as: "edit-note")
      .optimistic(on: ["notes"], of: NotesQuery<OldNote>.State.self) { $0?[$1.note].text = $1.text }
    let journal = MutationJournal(storage: storage, resumes: .manually)
    client.journal = journal
    journal.register(edit, as: "edit-note")
    let notes = client.store(for: NotesQuery<OldNote>(address: address).persisted(as: "notes"))
    let subscription = journal.subscribe { entries in
      say("\(entries.count) not sent yet: \((notes.currentValue ?? []).map(\.text))")
    }
    if let change {
      var context = OperationContext()
      context.operationBaseVersion = notes.currentValue.map { "\($0[change.note].version)" }
      try await client.store(for: edit).mutate(with: change, using: context)
    }
    try await notes.fetch()
    subscription.cancel()
    await client.persistence.flush()
    await storage.close()
  }
}
