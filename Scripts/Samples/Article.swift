/// The samples of an article in Markdown, and what is wrong around them.
struct Article {
  let path: String
  private(set) var samples: [Sample] = []
  private(set) var mistakes: [Mistake] = []

  init(path: String, text: String) {
    self.path = path
    var comment: String?
    var sample: Sample?
    for (number, line) in zip(1..., text.split(separator: "\n", omittingEmptySubsequences: false)) {
      let content = line.withoutSpacesAround
      if sample != nil, content == "```" {
        self.add(sample, comment: comment)
        (sample, comment) = (nil, nil)
      } else if sample != nil {
        sample?.append(line)
      } else if let words = content.wordsAboutSample {
        comment = words
      } else if content == "```swift" {
        sample = Sample(article: path, firstLine: number + 1, indentation: line.prefix { $0 == " " }.count)
      } else if comment != nil, !content.isEmpty {
        self.mistakes.append(Mistake(line: number, text: "a comment about a sample with no Swift block after it"))
        comment = nil
      }
    }
    if let sample {
      self.mistakes.append(Mistake(line: sample.firstLine, text: "a block without an end"))
    }
  }

  private mutating func add(_ sample: Sample?, comment: String?) {
    guard var sample else { return }
    if let comment {
      sample.directive = Directive(comment)
      guard sample.directive != nil else {
        self.mistakes.append(Mistake(line: sample.firstLine, text: "unknown words in the comment: \(comment)"))
        return
      }
    }
    self.samples.append(sample)
  }

  /// Where the declarations are that the article takes for granted.
  var pathOfPrelude: String {
    let parts = self.path.split(separator: "/")
    let folder = parts.first == "Modules" ? parts[1] : "Package"
    return "Tests/Samples/\(folder)/\(parts[parts.count - 1].dropLast(".md".count)).swift"
  }
}

/// What is wrong at a line of an article.
struct Mistake: Error {
  let line: Int
  let text: String
}

extension Substring {
  fileprivate var withoutSpacesAround: Substring {
    var text = self.drop { $0 == " " }
    while text.last == " " { text.removeLast() }
    return text
  }

  /// What the line says about a sample, if it is a comment that does.
  fileprivate var wordsAboutSample: String? {
    guard self.hasPrefix("<!-- sample: "), self.hasSuffix(" -->") else { return nil }
    return String(self.dropFirst("<!-- sample: ".count).dropLast(" -->".count))
  }
}
