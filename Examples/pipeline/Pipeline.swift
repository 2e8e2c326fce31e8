import ArgumentParser
import Foundation
import Operation
import OperationScheduling

@main
struct Pipeline: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pipeline",
    abstract:
      "Downloads files over HTTP from a server that it starts, verifies them and writes an index; stop it with ^C."
  )

  @Option(help: "The number of files.")
  var files: Int = 40

  @Option(help: "The number of operations after which the job interrupts itself, as ^C does.")
  var interruptAfter: Int?

  @Option(help: "The folder for the files; a temporary one by default, which is removed.")
  var folder: String?

  func validate() throws {
    guard self.files > 0 else { throw ValidationError("--files is a number above 0.") }
  }

  func run() async throws {
    let reports = Reports()
    OperationWarning.reporter = { reports.fail("the library warns: \($0)") }
    let server = FileServer(fileCount: self.files)
    let url = try self.makeFolder()
    defer { if self.folder == nil { try? FileManager.default.removeItem(at: url) } }
    let job = Job(api: FileAPI(baseURL: try await server.start()), folder: Folder(url: url))
    let interrupts = Interrupts { job.interrupt() }
    var output = ProgressOutput()
    var isInterrupting = false
    let indexed = try await job.run { counts in
      output.show(counts)
      if let limit = self.interruptAfter, counts.completed >= limit, !isInterrupting {
        isInterrupting = true
        // Not `raise`: the threads of tasks take no signals.
        kill(getpid(), SIGINT)
      }
    }
    interrupts.stop()
    await server.stop()
    try self.check(indexed, in: Folder(url: url), server.state, job, reports)
    ProgressOutput.write("\(indexed.count) of \(self.files) files are in the index\n")
    for report in reports.all { ProgressOutput.write("error: \(report)\n") }
    if !reports.all.isEmpty { throw ExitCode.failure }
    if job.isInterrupted, self.interruptAfter == nil { throw ExitCode(130) }
  }

  private func makeFolder() throws -> URL {
    let url =
      self.folder.map { URL(filePath: $0) }
      ?? FileManager.default.temporaryDirectory.appending(path: "pipeline-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    return url
  }

  /// The example checks itself, so that its exit code says whether it works.
  private func check(
    _ indexed: [RemoteFile],
    in folder: Folder,
    _ server: ServerState,
    _ job: Job,
    _ reports: Reports
  ) throws {
    let names = try folder.names
    if names.contains(where: { $0.hasSuffix(".part") }) { reports.fail("a half file was left: \(names)") }
    if Set(names) != Set(indexed.map(\.name) + [WriteIndex.fileName]) { reports.fail("the index is wrong") }
    if !Set(indexed).isSubset(of: server.files) { reports.fail("a file differs from that of the server") }
    if !job.isInterrupted, indexed.count != self.files { reports.fail("files are missing") }
    if self.interruptAfter != nil, indexed.count == self.files { reports.fail("the interruption came too late") }
    if server.loginCount != 1 { reports.fail("there were \(server.loginCount) logins") }
    if server.mostDownloads > Job.width { reports.fail("\(server.mostDownloads) downloads ran at a time") }
  }
}
