#if SwiftOperationDevtools
  import Foundation
  import Operation
  import OperationDevtools

  /// A program to look at by the devtools, for tests and `Scripts/check-devtools`.
  ///
  /// `shop` runs a made-up shop until its standard input ends, and prints the address of the page. `load STORES FETCHES` makes that
  /// many stores and that many fetches a second, and obeys the lines of its standard input: `measure SECONDS` prints what a
  /// fetch takes, `begin` serves the page and prints its address, `end` stops serving it.
  @main
  struct DevtoolsSubject {
    static func main() async throws {
      let arguments = CommandLine.arguments.dropFirst()
      if arguments.first == "load", let stores = arguments.dropFirst().first, let fetches = arguments.last {
        try await Load(stores: Int(stores) ?? 0, fetches: Int(fetches) ?? 0).run()
      } else {
        try await Shop(allowsActions: arguments.contains("--actions")).run()
      }
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
