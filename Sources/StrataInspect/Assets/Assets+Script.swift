extension Assets {
    // What comes from the store is put into a page by textContent only, never as markup.
    static let script = #"""
        'use strict';
        const byId = id => document.getElementById(id);
        const make = (name, text) => {
          const element = document.createElement(name);
          if (text !== undefined) element.textContent = text;
          return element;
        };
        const draw = (name, attributes) => {
          const element = document.createElementNS('http://www.w3.org/2000/svg', name);
          for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
          return element;
        };

        // Dark or light.
        const root = document.documentElement;
        const remembered = (() => { try { return localStorage.getItem('look'); } catch { return null; } })();
        if (remembered === 'dark' || remembered === 'light') root.dataset.look = remembered;
        const look = byId('look');
        if (look) {
          look.hidden = false;
          look.addEventListener('click', () => {
            const dark = root.dataset.look
              ? root.dataset.look === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
            root.dataset.look = dark ? 'light' : 'dark';
            try { localStorage.setItem('look', root.dataset.look); } catch { /* It is for this page then. */ }
          });
        }

        // Keys.
        let row = -1;
        let waiting = false;
        const rows = () => [...document.querySelectorAll('#results tbody tr')];
        const go = step => {
          const all = rows();
          if (!all.length) return;
          row = Math.max(0, Math.min(all.length - 1, row + step));
          all.forEach(other => other.classList.toggle('here', other === all[row]));
          all[row].focus();
          all[row].scrollIntoView({ block: 'nearest' });
        };
        document.addEventListener('keydown', event => {
          if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
          const target = event.target;
          if (target.matches('input, select, textarea')) {
            if (event.key === 'Escape') target.blur();
            return;
          }
          if (waiting) {
            waiting = false;
            const place = document.querySelector(`nav a[data-key="${CSS.escape(event.key)}"]`);
            if (place) { place.click(); event.preventDefault(); }
            return;
          }
          const link = relation => { const a = document.querySelector(`a[rel=${relation}]`); if (a) a.click(); };
          switch (event.key) {
          case '/': { const field = document.querySelector('main input:not([type=hidden]), main select');
            if (field) { field.focus(); event.preventDefault(); } break; }
          case 'j': go(1); break;
          case 'k': go(-1); break;
          case 'n': link('next'); break;
          case 'p': link('prev'); break;
          case 'g': waiting = true; break;
          case '?': byId('keys').showModal(); break;
          case 'Enter': { const a = target.matches('tr') && target.querySelector('a');
            if (a) { a.click(); event.preventDefault(); } break; }
          }
        });

        // Fields that nobody filled in are not in the URL.
        for (const form of document.querySelectorAll('form.fields')) {
          form.addEventListener('submit', () => {
            for (const field of form.querySelectorAll('input, select')) if (!field.value) field.disabled = true;
          });
        }
        addEventListener('pageshow', () => {
          for (const field of document.querySelectorAll('form.fields [disabled]')) field.disabled = false;
        });

        // Names of entities and properties while a predicate is written.
        const operators = ['AND', 'OR', 'NOT', 'BEGINSWITH', 'CONTAINS', 'ENDSWITH', 'LIKE', 'MATCHES', 'IN', 'BETWEEN',
          'ANY', 'ALL', 'SUBQUERY', 'SELF', 'NULL', 'TRUE', 'FALSE', 'count(*)', 'sum(', 'avg(', 'min(', 'max('];
        let model = null;
        const entities = async () => {
          if (!model) {
            const at = new URLSearchParams(location.search).get('at');
            const answer = await fetch('/model.json' + (at ? '?at=' + encodeURIComponent(at) : ''));
            const found = answer.ok ? (await answer.json()).entities : [];
            model = new Map(found.map(entity => [entity.name, entity]));
          }
          return model;
        };
        const candidates = async (field, word) => {
          const all = await entities();
          const choice = field.form.querySelector('select[name=entity]');
          let owner = all.get(choice ? choice.value : field.form.dataset.entity);
          const names = word.split('.');
          const last = names.pop();
          for (const name of names) owner = owner && all.get(owner.relationships[name]);
          const keys = owner ? [...owner.attributes, ...Object.keys(owner.relationships)] : [];
          return [...keys, ...(names.length ? [] : operators)]
            .filter(name => name.toLowerCase().startsWith(last.toLowerCase()) && name !== last)
            .slice(0, 30).map(name => [...names, name].join('.'));
        };
        let number = 0;
        for (const field of document.querySelectorAll('[data-completes]')) {
          const list = make('ul');
          list.className = 'names';
          list.id = 'names-' + number++;
          list.setAttribute('role', 'listbox');
          list.setAttribute('aria-label', 'Names');
          list.hidden = true;
          field.after(list);
          for (const [name, value] of Object.entries({ role: 'combobox', 'aria-autocomplete': 'list',
            'aria-controls': list.id, 'aria-expanded': 'false' })) field.setAttribute(name, value);
          let chosen = -1;
          let turn = 0;
          const word = () => field.value.slice(0, field.selectionStart).match(/[\p{L}\p{N}_.]*$/u)[0];
          const close = () => {
            turn += 1;
            list.hidden = true;
            chosen = -1;
            field.setAttribute('aria-expanded', 'false');
            field.removeAttribute('aria-activedescendant');
          };
          const mark = index => {
            chosen = index;
            [...list.children].forEach((item, at) => item.setAttribute('aria-selected', String(at === index)));
            if (index >= 0) {
              field.setAttribute('aria-activedescendant', list.children[index].id);
              list.children[index].scrollIntoView({ block: 'nearest' });
            }
          };
          const take = text => {
            const start = field.selectionStart - word().length;
            const rest = field.value.slice(field.selectionStart);
            field.value = field.value.slice(0, start) + text + rest;
            field.setSelectionRange(start + text.length, start + text.length);
            close();
          };
          field.addEventListener('input', async () => {
            const mine = ++turn;
            const typed = word();
            const found = typed ? await candidates(field, typed) : [];
            if (mine !== turn) return;
            if (!found.length) return close();
            list.replaceChildren(...found.map((name, index) => {
              const item = make('li', name);
              item.id = list.id + '-' + index;
              item.setAttribute('role', 'option');
              item.addEventListener('mousedown', event => { event.preventDefault(); take(name); });
              return item;
            }));
            list.hidden = false;
            field.setAttribute('aria-expanded', 'true');
            mark(0);
          });
          field.addEventListener('keydown', event => {
            if (list.hidden) return;
            const count = list.children.length;
            switch (event.key) {
            case 'ArrowDown': mark((chosen + 1) % count); break;
            case 'ArrowUp': mark((chosen + count - 1) % count); break;
            case 'Tab': take(list.children[chosen].textContent); break;
            case 'Escape': close(); break;
            default: return;
            }
            event.preventDefault();
          });
          field.addEventListener('blur', close);
        }

        // Transactions as they are saved.
        const timeline = document.querySelector('table[data-live]');
        if (timeline) {
          const status = byId('live');
          const source = new EventSource(timeline.dataset.live);
          let count = 0;
          source.addEventListener('open', () => { status.textContent = 'Live'; });
          source.addEventListener('error', () => { status.textContent = 'Not live: connecting again'; });
          source.addEventListener('transaction', event => {
            const record = JSON.parse(event.data);
            const names = [...timeline.tHead.rows[0].cells].map(cell => cell.textContent);
            const line = make('tr');
            line.tabIndex = -1;
            for (const name of names) {
              const cell = make(name === 'transaction' ? 'th' : 'td');
              if (typeof record[name] === 'number') cell.className = 'number';
              if (name === 'transaction') {
                const link = make('a', String(record[name]));
                link.href = '/changes?from=' + (record[name] - 1) + '&to=' + record[name];
                cell.scope = 'row';
                cell.append(link);
              } else if (record[name] !== null) {
                cell.append(make('bdi', String(record[name])));
              }
              line.append(cell);
            }
            timeline.tBodies[0].prepend(line);
            while (timeline.tBodies[0].rows.length > 500) timeline.tBodies[0].lastElementChild.remove();
            count += 1;
            status.textContent = 'Live: ' + count + ' more';
          });
        }

        // How the log grows.
        const rates = byId('rates-charts');
        if (rates) {
          const series = new Map();
          const source = new EventSource(rates.dataset.live);
          const text = (name, value) => name.includes('bytes') && value >= 1000
            ? (value >= 1e6 ? (value / 1e6).toFixed(1) + ' MB' : (value / 1e3).toFixed(1) + ' kB') : String(value);
          rates.setAttribute('aria-live', 'off');
          source.addEventListener('rates', event => {
            for (const { name, value } of JSON.parse(event.data).rates) {
              let one = series.get(name);
              if (!one) {
                const figure = make('figure');
                const caption = make('figcaption');
                const chart = draw('svg', { width: 200, height: 50, role: 'img', 'aria-label': name });
                const line = draw('polyline', { points: '' });
                chart.append(line);
                figure.append(chart, caption);
                rates.append(figure);
                one = { values: [], caption, line };
                series.set(name, one);
              }
              one.values.push(value);
              if (one.values.length > 100) one.values.shift();
              const most = Math.max(1, ...one.values);
              one.line.setAttribute('points',
                one.values.map((each, at) => `${at * 2},${(48 - each / most * 44).toFixed(1)}`).join(' '));
              one.caption.textContent = name + ': ' + text(name, value);
            }
          });
          source.addEventListener('program', event => {
            byId('program').textContent = JSON.parse(event.data).text;
          });
          const replaceRows = (table, rows) => {
            const names = [...table.tHead.rows[0].cells].map(cell => cell.textContent);
            table.tBodies[0].replaceChildren(...rows.map(record => {
              const line = make('tr');
              line.tabIndex = -1;
              for (const name of names) {
                const cell = make('td');
                if (typeof record[name] === 'number') cell.className = 'number';
                if (record[name] !== null) cell.append(make('bdi', String(record[name])));
                line.append(cell);
              }
              return line;
            }));
          };
          source.addEventListener('kept', event => {
            const { text, rows } = JSON.parse(event.data);
            byId('pinned').textContent = text;
            replaceRows(byId('consumers'), rows);
          });
          source.addEventListener('requests', event => {
            const { caption, rows } = JSON.parse(event.data);
            const table = byId('results');
            table.caption.textContent = caption;
            // Who is in a row stays in that of the same request, or where it was.
            const what = row => row.cells[0].textContent + ' ' + row.cells[1].textContent;
            const old = [...table.tBodies[0].rows];
            const at = old.findIndex(row => row.contains(document.activeElement));
            const name = at < 0 ? '' : what(old[at]);
            replaceRows(table, rows);
            const fresh = [...table.tBodies[0].rows];
            if (at >= 0 && fresh.length) {
              (fresh.find(row => what(row) === name) ?? fresh[Math.min(at, fresh.length - 1)]).focus({ preventScroll: true });
            }
          });
          source.addEventListener('segments', event => {
            const segments = JSON.parse(event.data).slice(-400);
            const most = Math.max(1, ...segments.map(segment => segment.bytes));
            const map = document.querySelector('#segments svg');
            map.setAttribute('height', segments.length * 18 + 4);
            map.replaceChildren(...segments.map((segment, index) => {
              const group = draw('g', {});
              const title = draw('title', {});
              title.textContent = 'segment ' + segment.segment + ': ' + segment.bytes + ' bytes, ' + segment.live + ' live';
              const label = draw('text', { x: 50, y: index * 18 + 13, 'text-anchor': 'end' });
              label.textContent = String(segment.segment);
              group.append(title, label);
              let x = 56;
              const parts = { live: segment.live, history: segment.history, dead: segment.dead - segment.pinned,
                pinned: segment.pinned, other: segment.bytes - segment.live - segment.history - segment.dead };
              for (const [kind, bytes] of Object.entries(parts)) {
                if (bytes <= 0) continue;
                const width = bytes / most * 660;
                group.append(draw('rect', { class: kind, x, y: index * 18 + 2, width: Math.max(width, 0.5), height: 14 }));
                x += width;
              }
              return group;
            }));
          });
        }
        """#
}
