import Foundation

/// Writes the Swift samples of articles as files to compile, and prints which samples are skipped.
///
/// `SampleExtraction ROOT FOLDER ARTICLE…`: the files of an article are in `FOLDER/ARTICLE`, with a file `errors` if
/// something in it is wrong. `FOLDER/count` has the number of samples.
@main
struct SampleExtraction {
  static func main() {
    let arguments = CommandLine.arguments
    guard arguments.count > 3 else { return fail("usage: SampleExtraction ROOT FOLDER ARTICLE…") }
    let root = URL(filePath: arguments[1])
    let folder = URL(filePath: arguments[2])
    do {
      var count = 0
      for path in arguments.dropFirst(3) {
        count += try extract(path, of: root, to: folder.appending(path: path))
      }
      try write("\(count)\n", to: folder.appending(path: "count"))
    } catch {
      fail("\(error)")
    }
  }

  /// Writes the files of an article, and returns the number of its samples.
  private static func extract(_ path: String, of root: URL, to folder: URL) throws -> Int {
    let article = Article(path: path, text: try String(contentsOf: root.appending(path: path), encoding: .utf8))
    var units = Units()
    var mistakes = article.mistakes
    var count = 0
    for sample in article.samples {
      if case .skip(let reason) = sample.directive {
        print("\(path):\(sample.firstLine): skipped: \(reason)")
        continue
      }
      count += 1
      do {
        if case .is(let file) = sample.directive {
          try sample.compare(with: String(contentsOf: root.appending(path: file), encoding: .utf8), file)
          continue
        }
        try units.add(sample)
      } catch let mistake as Mistake {
        mistakes.append(mistake)
      } catch {
        mistakes.append(Mistake(line: sample.firstLine, text: "\(error)"))
      }
    }

    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for (name, text) in units.files(prelude: prelude(of: article, root: root)) {
      try write(text, to: folder.appending(path: name))
    }
    if !mistakes.isEmpty {
      let lines = mistakes.map { "\(path):\($0.line): error: \($0.text)\n" }
      try write(lines.joined(), to: folder.appending(path: "errors"))
    }
    return count
  }

  /// What an article takes for granted, if there is a file with it.
  private static func prelude(of article: Article, root: URL) -> String {
    let path = article.pathOfPrelude
    guard let text = try? String(contentsOf: root.appending(path: path), encoding: .utf8) else { return "" }
    return "#sourceLocation(file: \"\(path)\", line: 1)\n\(text)#sourceLocation()\n"
  }

  private static func write(_ text: String, to file: URL) throws {
    try Data(text.utf8).write(to: file)
  }

  private static func fail(_ message: String) {
    FileHandle.standardError.write(Data("error: \(message)\n".utf8))
    exit(2)
  }
}
