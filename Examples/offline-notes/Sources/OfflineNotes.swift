import Foundation
import Operation

/// A program for notes that works without a network: notes that are written and changed while the server is stopped are
/// sent when it is back, in order and once, even if the program was killed or updated meanwhile. If another device has
/// changed the same note, the user decides. What a device stores is sealed, and each version of the program has a key of
/// its own.
///
/// Without arguments it plays a story with a server of its own and checks it: the exit code is 0 if all went well.
/// `--unsealed` plays it with files that everybody can read, which it has to find. The program itself is
/// - `offline-notes edit DATABASE ADDRESS TEXT…`, which adds notes,
/// - `offline-notes change DATABASE ADDRESS NUMBER TEXT`,
/// - `offline-notes decide DATABASE ADDRESS later|mine|theirs|both`, and
/// - `offline-notes old DATABASE ADDRESS [NUMBER TEXT]`, its first version.
@main
struct OfflineNotes {
  /// The variable of the environment by which a story tells its children that their files are not sealed.
  private static let unsealed = "OFFLINE_NOTES_UNSEALED"

  static var isUnsealed: Bool { ProcessInfo.processInfo.environment[self.unsealed] != nil }

  static func main() async {
    let arguments = Array(CommandLine.arguments.dropFirst())
    do {
      if arguments.isEmpty || arguments == ["--unsealed"] {
        if !arguments.isEmpty { setenv(self.unsealed, "1", 1) }
        try await Story().play()
        print("All notes arrived once, in order, no file tells them, and the user has decided about the conflict.")
      } else if arguments.count >= 3, let address = URL(string: arguments[2]) {
        let rest = Array(arguments.dropFirst(3))
        OperationWarning.reporter = { say("warning: \($0.code): \($0.message)") }
        guard try await self.run(arguments[0], arguments[1], address, rest) else { return self.usage() }
      } else {
        self.usage()
      }
    } catch {
      print("failed: \(error)")
      exit(1)
    }
  }

  /// Runs a command. Returns false if there is no such command.
  private static func run(_ command: String, _ database: String, _ address: URL, _ rest: [String]) async throws -> Bool
  {
    if command == "old" {
      let change = rest.count == 2 ? Int(rest[0]).map { OldChange(note: $0, text: rest[1]) } : nil
      try await OldNotebook.run(database: database, address: address, change: change)
      return true
    }
    let notebook = try await Notebook(database: database, address: address)
    switch command {
    case "edit": try await notebook.add(rest)
    case "change":
      guard rest.count == 2, let id = Int(rest[0]) else { return false }
      try await notebook.change(id, to: rest[1])
    case "decide":
      guard rest.count == 1, let choice = Notebook.Choice(rawValue: rest[0]) else { return false }
      try await notebook.decide(choice)
    default: return false
    }
    try await notebook.close()
    return true
  }

  private static func usage() {
    print("usage: offline-notes [--unsealed|edit|change|decide|old DATABASE ADDRESS …]")
    exit(2)
  }
}
