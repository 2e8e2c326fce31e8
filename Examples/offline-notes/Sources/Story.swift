import Foundation

/// A check of the story has failed.
struct StoryError: Error, CustomStringConvertible {
  let description: String
}

/// Writes and changes notes with and without a server, on two devices, kills and updates the program, decides about a
/// conflict, and compares what the server has. Meanwhile it looks for the notes in the files of the devices.
struct Story {
  let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
    "offline-notes-\(UUID().uuidString)"
  )

  func play() async throws {
    try FileManager.default.createDirectory(at: self.folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: self.folder) }
    let server = NoteServer()
    let address = try await server.start()

    say("The server is there:")
    try await self.edit(address, "bread", "milk").endsWell()
    try self.expect(await server.texts, ["bread", "milk"])

    say("The server is away, and the program is killed:")
    await server.stop()
    let first = try self.edit(address, "eggs", "salt", "tea")
    try await first.says(#"3 not sent yet: ["bread", "milk", "eggs", "salt", "tea"]"#)
    await first.kill()
    try self.expectSealed("notes.sqlite")

    say("It is started again, still without the server, and killed again:")
    let second = try self.edit(address, "jam")
    try await second.says(#"4 not sent yet: ["bread", "milk", "eggs", "salt", "tea", "jam"]"#)
    await second.kill()
    try await self.playMovedFile(address)

    say("The server is back:")
    _ = try await server.start()
    try await self.edit(address).endsWell()
    try self.expect(await server.texts, ["bread", "milk", "eggs", "salt", "tea", "jam"])

    try await self.playConflict(with: server, address)
    await server.stop()
  }

  private func playConflict(with server: NoteServer, _ address: URL) async throws {
    say("A tablet has the first version of the program, and fetches the notes:")
    try await self.run("old", on: "tablet", address).endsWell()

    say("The server is away, and both devices change the same note:")
    await server.stop()
    let tablet = try self.run("old", on: "tablet", address, "0", "brown bread")
    try await tablet.says(#"1 not sent yet: ["brown bread", "milk", "eggs", "salt", "tea", "jam"]"#)
    await tablet.kill()
    try self.expectSealed("tablet.sqlite")
    let phone = try self.run("change", on: "notes", address, "0", "white bread")
    try await phone.says(#"1 not sent yet: ["white bread", "milk", "eggs", "salt", "tea", "jam"]"#)
    await phone.kill()

    say("The tablet is updated. Without the server it shows what the first version has stored:")
    let old = try self.secrets("tablet.sqlite")
    let updated = try self.run("edit", on: "tablet", address)
    try await updated.says("the key has changed, and what was stored is sealed with the new one")
    try await updated.says(#"1 not sent yet: ["brown bread", "milk", "eggs", "salt", "tea", "jam"]"#)
    await updated.kill()
    try self.expectNewSecrets("tablet.sqlite", inPlaceOf: old)
    try self.expectSealed("tablet.sqlite")

    say("The server is back, and the tablet sends its change first:")
    _ = try await server.start()
    try await self.run("edit", on: "tablet", address).endsWell()
    try self.expect(await server.texts, ["brown bread", "milk", "eggs", "salt", "tea", "jam"])

    say("The change of the phone is in conflict, and the program is killed before the user decides:")
    let asking = try self.run("decide", on: "notes", address, "later")
    try await asking.says(#"conflict: yours "white bread", theirs "brown bread""#)
    await asking.kill()

    say("The user wants both:")
    let deciding = try self.run("decide", on: "notes", address, "both")
    try await deciding.says(#"conflict: yours "white bread", theirs "brown bread""#)
    try await deciding.endsWell()
    let expected = ["brown bread and white bread", "milk", "eggs", "salt", "tea", "jam"]
    try self.expect(await server.texts, expected)

    say("The tablet sees it, too:")
    let last = try self.run("edit", on: "tablet", address)
    try await last.says("the server has: \(expected)")
    try await last.endsWell()
    for name in ["notes.sqlite", "tablet.sqlite"] { try self.expectSealed(name) }
  }

  private func edit(_ address: URL, _ texts: String...) throws -> Child {
    try Child(["edit", self.database("notes"), address.absoluteString] + texts)
  }

  func run(_ command: String, on device: String, _ address: URL, _ rest: String...) throws -> Child {
    try Child([command, self.database(device), address.absoluteString] + rest)
  }

  func database(_ device: String) -> String {
    self.folder.appendingPathComponent("\(device).sqlite").path
  }

  private func expect(_ notes: [String], _ expected: [String]) throws {
    guard notes == expected else { throw StoryError(description: "the server has \(notes), and not \(expected)") }
  }
}
