import Foundation

/// The part of the story in which a thief reads the files of a device.
extension Story {
  /// Parts of the notes and names of the calls, which the devices store. Each text is so long that random bytes do not
  /// contain it.
  private static let texts = ["bread", "brown", "white", "add-note", "change-note", "edit-note"]

  /// A copy of the phone's database is opened without its key, and then with it.
  func playMovedFile(_ address: URL) async throws {
    say("Somebody copies the file of the phone, without its key:")
    for suffix in ["", "-wal", "-shm"] { try self.copy("notes.sqlite\(suffix)", to: "moved.sqlite\(suffix)") }
    let thief = try self.run("edit", on: "moved", address)
    try await thief.says("sealingKeyUnknown", isWarning: true)
    try await thief.says("4 cannot be read")
    try await thief.says("0 not sent yet: []")
    await thief.kill()

    say("The copy is opened with the key:")
    try self.copy("notes.sqlite.key", to: "moved.sqlite.key")
    let owner = try self.run("edit", on: "moved", address)
    try await owner.says(#"4 not sent yet: ["bread", "milk", "eggs", "salt", "tea", "jam"]"#)
    await owner.kill()
    try self.expectSealed("moved.sqlite")
  }

  /// Looks for the notes in the bytes of a database and of its log.
  func expectSealed(_ name: String) throws {
    var bytes = Data()
    for suffix in ["", "-wal", "-shm"] { bytes += self.read(name + suffix) ?? Data() }
    // The visible part of each entry is found. So the search would find the notes, too, if they were not sealed.
    guard bytes.range(of: Data("sealed-value/".utf8)) != nil || OfflineNotes.isUnsealed else {
      throw StoryError(description: "nothing of what is stored is found in \(name)")
    }
    for text in Self.texts where bytes.range(of: Data(text.utf8)) != nil {
      throw StoryError(description: "\"\(text)\" is found in \(name)")
    }
    say("  (nothing of the notes is found in the \(bytes.count) bytes of \(name))")
  }

  /// The secrets of a database.
  func secrets(_ name: String) throws -> [String] {
    struct Secret: Decodable {
      let bytes: String
    }
    if OfflineNotes.isUnsealed { return [] }
    return try JSONDecoder().decode([Secret].self, from: self.read("\(name).key") ?? Data()).map(\.bytes)
  }

  /// Checks that a database has one new secret, which no other user may read.
  func expectNewSecrets(_ name: String, inPlaceOf old: [String]) throws {
    let new = try self.secrets(name)
    guard new.count == 1, Set(new).isDisjoint(with: old) else {
      throw StoryError(description: "the secrets of \(name) have not changed")
    }
    let path = self.folder.appendingPathComponent("\(name).key").path
    let rights = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    guard rights == 0o600 else { throw StoryError(description: "others may read the secrets of \(name)") }
  }

  private func read(_ name: String) -> Data? {
    FileManager.default.contents(atPath: self.folder.appendingPathComponent(name).path)
  }

  private func copy(_ name: String, to other: String) throws {
    try self.read(name)?.write(to: self.folder.appendingPathComponent(other))
  }
}
