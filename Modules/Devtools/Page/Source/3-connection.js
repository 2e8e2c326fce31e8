'use strict';
// The way to the program: its messages as they come, and questions. The token stays out of the address of the page.
Devtools.Connection = class {
  constructor(receive, show) {
    this.receive = receive;
    this.show = show;
    this.token = this.takeToken();
    this.isOn = true;
  }

  takeToken() {
    const address = new URL(location.href);
    const token = address.searchParams.get('token');
    if (token) {
      sessionStorage.setItem('token', token);
      address.searchParams.delete('token');
      history.replaceState(null, '', address);
    }
    return token ?? sessionStorage.getItem('token') ?? '';
  }

  get headers() { return { Authorization: `Bearer ${this.token}` }; }

  async run() {
    let pause = 250;
    while (this.isOn) {
      try {
        this.show('waiting', 'connecting');
        await this.read();
        pause = 250;
      } catch (error) {
        if (error.isFinal) return this.show('lost', error.message);
      }
      if (!this.isOn) return;
      this.show('lost', 'the program has gone; trying again');
      await new Promise((resolve) => setTimeout(resolve, pause));
      pause = Math.min(pause * 2, 5000);
    }
  }

  // Stops reading, because a recording is shown.
  stop() {
    this.isOn = false;
    this.abort?.abort();
  }

  async read() {
    this.abort = new AbortController();
    const response = await fetch('/api/events', { headers: this.headers, signal: this.abort.signal });
    if (!response.ok) {
      const error = new Error(await response.text());
      error.isFinal = response.status === 401 || response.status === 403;
      throw error;
    }
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      rest += value;
      let end;
      while ((end = rest.indexOf('\n\n')) >= 0) {
        const line = rest.slice(0, end);
        rest = rest.slice(end + 2);
        if (line.startsWith('data: ')) this.receive(JSON.parse(line.slice(6)), line.slice(6));
      }
    }
  }

  async get(path) {
    const response = await fetch(path, { headers: this.headers });
    if (!response.ok) throw new Error(await response.text());
    return response;
  }

  async act(action) {
    const response = await fetch('/api/action', {
      method: 'POST',
      headers: { ...this.headers, 'Content-Type': 'application/json' },
      body: JSON.stringify(action),
    });
    if (!response.ok) throw new Error((await response.text()).trim());
  }
};

// Adds the messages of a file, one a line, to a recording. A last line that is not complete is left out.
Devtools.readRecording = async (file, recording) => {
  const decoder = new TextDecoder();
  // In pieces, between which the page is drawn and answers.
  const size = 1 << 20;
  let rest = '';
  const add = (line) => {
    if (!line.trim()) return;
    const message = JSON.parse(line);
    if (recording.lines.length === 0 && message.type !== 'hello') throw new Error('The file is no recording.');
    recording.add(message, line);
  };
  for (let start = 0; start < file.size; start += size) {
    const bytes = await file.slice(start, start + size).arrayBuffer();
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
    rest = lines.pop();
    for (const line of lines) add(line);
  }
  try {
    add(rest);
  } catch (error) {
    if (recording.lines.length === 0) throw error;
  }
  if (recording.lines.length === 0) throw new Error('The file is no recording.');
};
