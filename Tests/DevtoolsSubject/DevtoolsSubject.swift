#if SwiftOperationDevtools
  import Foundation
  import Operation
  import OperationDevtools

  /// A program to look at by the devtools, for tests and `Scripts/check-devtools`.
  ///
  /// `shop` runs a made-up shop until its standard input ends, and prints the address of the page, which is the same each time with
  /// `--port PORT --token TOKEN`; with `--actions` the page may change something. `load STORES FETCHES` makes that many stores and
  /// that many fetches a second, and obeys the lines of its standard input: `measure SECONDS` prints what a fetch takes, `begin`
  /// serves the page and prints its address, `end` stops serving it.
  @main
  struct DevtoolsSubject {
    static func main() async throws {
      let arguments = CommandLine.arguments.dropFirst()
      if arguments.first == "load", let stores = arguments.dropFirst().first, let fetches = arguments.last {
        try await Load(stores: Int(stores) ?? 0, fetches: Int(fetches) ?? 0).run()
      } else {
        let shop = Shop(
          allowsActions: arguments.contains("--actions"),
          port: Self.argument("--port").flatMap { UInt16($0) } ?? 0,
          token: Self.argument("--token")
        )
        try await shop.run()
      }
    }

    /// What follows a name among the arguments.
    private static func argument(_ name: String) -> String? {
      let arguments = CommandLine.arguments
      guard let index = arguments.firstIndex(of: name), index + 1 < arguments.count else { return nil }
      return arguments[index + 1]
    }

    /// Prints a line at once.
    static func say(_ line: String) {
      try? FileHandle.standardOutput.write(contentsOf: Data("\(line)\n".utf8))
    }

    /// The lines of the standard input, until it ends.
    static var commands: AsyncStream<String> {
      AsyncStream { continuation in
        Thread.detachNewThread {
          while let line = readLine() { continuation.yield(line) }
          continuation.finish()
        }
      }
    }
  }
#else
  @main
  struct DevtoolsSubject {
    static func main() {}
  }
#endif
