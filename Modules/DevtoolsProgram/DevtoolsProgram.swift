internal import OperationPlatform

#if SwiftOperationDevtools
  internal import OperationDevtools

  /// Shows a recording of ``Devtools`` in the browser.
  @main
  struct DevtoolsProgram {
    private static let usage = """
      Shows a recording of the stores of a program in the browser.

      usage: operation-devtools replay FILE [--port PORT]

      FILE is what the button "Save recording" of a page or Devtools.record(to:) has written. The address of the page is
      printed, and the page is there until the program is interrupted.

      """

    static func main() async {
      let arguments = Array(CommandLine.arguments.dropFirst())
      if arguments == ["--help"] || arguments == ["-h"] { return say(self.usage) }
      guard arguments.count >= 2, arguments[0] == "replay", let port = self.port(arguments.dropFirst(2)) else {
        return end(self.usage, status: 64)
      }
      do {
        let devtools = try Devtools(recordedIn: arguments[1], port: port)
        try await devtools.run { say("\($0)\n") }
      } catch {
        end("operation-devtools: \(error)\n", status: 1)
      }
    }

    private static func port(_ arguments: ArraySlice<String>) -> UInt16? {
      if arguments.isEmpty { return 0 }
      guard arguments.count == 2, arguments.first == "--port" else { return nil }
      return arguments.last.flatMap { UInt16($0) }
    }
  }
#else
  @main
  struct DevtoolsProgram {
    static func main() {
      end(
        "operation-devtools: build it with the trait SwiftOperationDevtools, by --traits SwiftOperationDevtools\n",
        status: 69
      )
    }
  }
#endif

private func say(_ text: String) {
  let bytes = Array(text.utf8)
  _ = write(STDOUT_FILENO, bytes, bytes.count)
}

private func end(_ text: String, status: CInt) {
  let bytes = Array(text.utf8)
  _ = write(STDERR_FILENO, bytes, bytes.count)
  exit(status)
}
