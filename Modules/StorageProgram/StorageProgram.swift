internal import OperationPlatform

#if SwiftOperationSQLite
  internal import OperationFoundation
  internal import OperationStorageTool

  /// Shows and mends a storage.
  @main
  struct StorageProgram {
    static func main() async {
      let arguments = Array(CommandLine.arguments.dropFirst())
      if arguments == ["--help"] || arguments == ["-h"] { return write(StorageCommand.usage, to: STDOUT_FILENO) }
      guard let command = StorageCommand(arguments) else {
        write(StorageCommand.usage, to: STDERR_FILENO)
        exit(64)
      }
      let result = await command.perform(now: Date())
      write(result.output, to: STDOUT_FILENO)
      write(result.problem, to: STDERR_FILENO)
      exit(result.status)
    }
  }
#else
  @main
  struct StorageProgram {
    static func main() {
      write(
        "operation-storage: build it with the trait SwiftOperationSQLite, by --traits SwiftOperationSQLite\n",
        to: STDERR_FILENO
      )
      exit(69)
    }
  }
#endif

/// Writes a text, all of it.
private func write(_ text: String, to descriptor: CInt) {
  var rest = Array(text.utf8)[...]
  while !rest.isEmpty {
    let count = rest.withUnsafeBytes { OperationPlatform.write(descriptor, $0.baseAddress, $0.count) }
    // The reader has gone.
    guard count > 0 else { exit(0) }
    rest = rest.dropFirst(count)
  }
}
