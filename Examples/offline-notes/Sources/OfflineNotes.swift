import Foundation

/// A program for notes that works without a network: notes that are written while the server is stopped are sent when
/// it is back, in order and once, even if the program was killed meanwhile.
///
/// Without arguments it plays a story with a server of its own and checks it: the exit code is 0 if all went well.
/// `offline-notes edit DATABASE ADDRESS TEXT…` is the program itself.
@main
struct OfflineNotes {
  static func main() async {
    let arguments = Array(CommandLine.arguments.dropFirst())
    do {
      if arguments.first == "edit", arguments.count >= 3, let address = URL(string: arguments[2]) {
        try await Editor(database: arguments[1], address: address).add(Array(arguments.dropFirst(3)))
      } else if arguments.isEmpty {
        try await Story().play()
        print("All notes arrived once, in order.")
      } else {
        print("usage: offline-notes [edit DATABASE ADDRESS TEXT…]")
        exit(2)
      }
    } catch {
      print("failed: \(error)")
      exit(1)
    }
  }
}
