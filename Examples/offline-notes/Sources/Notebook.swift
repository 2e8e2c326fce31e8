import Foundation
import Operation
import OperationPersistence
import OperationSQLite

/// Opens the database of a version of the program, with the key that this version has made.
///
/// All that is stored goes through this storage, and is sealed: values, the arguments of calls, and the texts of keys. What an
/// earlier version has sealed is sealed anew.
func openStorage(_ database: String, version: Int) async throws -> any PersistentStorage {
  let file = try SQLiteStorage(path: database)
  if OfflineNotes.isUnsealed { return file }
  var secrets = try SecretFile(database + ".key", version: version)
  let keys = try secrets.keys
  let storage = SealedStorage(file, key: keys[0], previousKeys: Array(keys.dropFirst()))
  guard keys.count > 1 else { return storage }
  // If the program is killed before the last line, the next start continues: it has both secrets.
  try await storage.reseal()
  try secrets.keepNewest()
  say("the key has changed, and what was stored is sealed with the new one")
  return storage
}

/// A conflict cannot be decided any more, because its call is gone.
struct ConflictGone: Error {}

/// The notes of one device, and the calls that it has not sent yet.
struct Notebook: Sendable {
  typealias ChangeStore = OperationStore<MutationState<Change, Void, any Error>>

  /// What a change says since the second version of the program.
  struct Change: NoteChange {
    let id: Int
    let text: String
  }

  let notes: OperationStore<NotesQuery<Note>.State>
  let journal: MutationJournal
  private let client: OperationClient
  private let storage: any PersistentStorage
  private let address: URL
  private let resumption: JournalResumption
  private let subscription: OperationSubscription

  init(database: String, address: URL) async throws {
    let storage = try await openStorage(database, version: 2)
    let client = OperationClient()
    client.defaultContext.operationStorage = storage
    await client.restore()
    let journal = MutationJournal(storage: storage, resumes: .manually)
    client.journal = journal
    let observer = ServerObserver(address: address)
    journal.register(Self.addition(address, observer), as: "add-note")
    journal.register(Self.change(address, observer), as: "change-note")
    let notes = client.store(for: Self.query(address))
    self.resumption = await journal.resume()
    self.subscription = journal.subscribe { entries in
      let unreadable = entries.count { $0.status == .unreadable }
      if unreadable > 0 { say("\(unreadable) cannot be read") }
      say("\(entries.count - unreadable) not sent yet: \((notes.currentValue ?? []).map(\.text))")
    }
    (self.notes, self.journal, self.client, self.storage, self.address) = (notes, journal, client, storage, address)
  }

  /// The notes. The first version of the program has stored them without their numbers.
  private static func query(_ address: URL) -> some QueryRequest<[Note], any Error> {
    NotesQuery<Note>(address: address)
      .persisted(
        as: "notes",
        version: 2,
        migrate: { bytes, _ in
          try JSONDecoder().decode(StoredValue<[OldNote]>.self, from: Data(bytes)).map { notes in
            notes.enumerated().map { Note(id: $0.offset, text: $0.element.text, version: $0.element.version) }
          }
        }
      )
  }

  private static func addition(
    _ address: URL,
    _ observer: ServerObserver
  ) -> some MutationRequest<AddNote.Arguments, Void, any Error> {
    AddNote(address: address)
      .waits(until: .connected(to: observer))
      .retry(limit: 100)
      .backoff(.constant(.milliseconds(100)))
      .scope("notes")
      .journaled(as: "add-note")
      .optimistic(on: ["notes"], of: NotesQuery<Note>.State.self) { notes, note in
        notes = (notes ?? []) + [Note(id: notes?.count ?? 0, text: note.text, version: 0)]
      }
  }

  /// Changes of notes. The first version of the program has called them "edit-note", with other arguments.
  private static func change(
    _ address: URL,
    _ observer: ServerObserver
  ) -> some MutationRequest<Change, Void, any Error> {
    ChangeNote<Change>(address: address)
      .resolvesConflicts(of: NoteConflict.self) { _, _ in .ask }
      .waits(until: .connected(to: observer))
      .scope("notes")
      .journaled(
        as: "change-note",
        aliases: ["edit-note"],
        version: 2,
        policy: .replacePending(by: \.id),
        migrate: { bytes, _ in
          let old = try JSONDecoder().decode(OldChange.self, from: Data(bytes))
          return Change(id: old.note, text: old.text)
        }
      )
      .optimistic(on: ["notes"], of: NotesQuery<Note>.State.self) { notes, change in
        guard let index = notes?.firstIndex(where: { $0.id == change.id }) else { return }
        notes?[index].text = change.text
      }
  }

  private var changes: ChangeStore {
    self.client.store(for: Self.change(self.address, ServerObserver(address: self.address)))
  }
}

extension Notebook {
  /// Adds notes, and waits until they are sent.
  func add(_ texts: [String]) async throws {
    let store = self.client.store(for: Self.addition(self.address, ServerObserver(address: self.address)))
    let additions = texts.map { text in
      Task.immediate { try await store.mutate(with: AddNote.Arguments(text: text)) }
    }
    for addition in additions { try await addition.value }
  }

  /// Changes a note, and waits until the change is sent or in conflict.
  func change(_ id: Int, to text: String) async throws {
    var context = OperationContext()
    context.operationBaseVersion = self.notes.currentValue?.first { $0.id == id }.map { "\($0.version)" }
    do {
      try await self.changes.mutate(with: Change(id: id, text: text), using: context)
    } catch let error as JournalError where error.code == .conflicted {
      self.showConflicts()
    }
  }

  /// What the user wants of a conflict.
  enum Choice: String {
    case later
    case mine
    case theirs
    case both
  }

  /// Waits until the calls of earlier starts are sent, and decides about the conflicts of changes as the user says.
  func decide(_ choice: Choice) async throws {
    await self.resumption.settled()
    self.showConflicts()
    for conflict in self.conflicts {
      let (mine, theirs) = (conflict.call.arguments, conflict.current)
      let resolution: ConflictResolution<Change> =
        switch choice {
        case .later: .ask
        case .theirs: .discard
        case .mine: .retry(with: mine, basedOn: "\(theirs.version)")
        case .both:
          .retry(with: Change(id: mine.id, text: "\(theirs.text) and \(mine.text)"), basedOn: "\(theirs.version)")
        }
      guard try await self.journal.resolve(conflict, with: resolution) else { throw ConflictGone() }
    }
    await self.journal.resume().settled()
  }

  private var conflicts: [JournalConflict<Change, Note>] {
    self.journal.conflicts(of: Self.change(self.address, ServerObserver(address: self.address)), as: Note.self)
  }

  private func showConflicts() {
    for conflict in self.conflicts {
      say("conflict: yours \"\(conflict.call.arguments.text)\", theirs \"\(conflict.current.text)\"")
    }
  }

  /// Waits until the calls of earlier starts are sent, shows what the server has, and ends.
  func close() async throws {
    await self.resumption.settled()
    try await self.notes.fetch()
    self.subscription.cancel()
    await self.client.persistence.flush()
    await self.storage.close()
    say("the server has: \((self.notes.currentValue ?? []).map(\.text))")
  }
}

/// Writes a line at once: the program may be killed after it.
func say(_ text: String) {
  FileHandle.standardOutput.write(Data((text + "\n").utf8))
}
